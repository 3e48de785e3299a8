package disk

// From the system's fcntl.h.
const (
	ofdSet = 90 // F_OFD_SETLK
	ofdGet = 92 // F_OFD_GETLK
)
