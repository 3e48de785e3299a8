package workspace

const NonceLen = 12
