package settings

import (
	"errors"
	"math"
	"strconv"
	"strings"
)

// ParseSize parses a size in bytes: a number and a unit. K, M, G and T are powers of 1024, alone or
// as KiB and so on; KB and so on are powers of 1000.
func ParseSize(text string) (int64, error) {
	bad := errors.New(`not a size: sizes are like "500MiB" or "20GiB"`)
	number := strings.TrimRight(text, "kKMGTiB")
	unit := text[len(number):]
	value, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil || !(value >= 0) { // also rejects NaN
		return 0, bad
	}
	base := 1024.0
	if len(unit) == 2 && unit[1] == 'B' {
		base = 1000
	}
	power := 0
	if unit != "" && unit != "B" {
		power = strings.Index("KMGT", strings.ToUpper(unit[:1])) + 1
		if rest := unit[1:]; power == 0 || (rest != "" && rest != "B" && rest != "iB") {
			return 0, bad
		}
	}
	if value *= math.Pow(base, float64(power)); value > math.MaxInt64/2 {
		return 0, bad
	}
	return int64(value), nil
}

// formatSize is the inverse of ParseSize. It uses the largest unit without a fraction.
func formatSize(n int64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	i := 0
	for n != 0 && n%1024 == 0 && i < len(units)-1 {
		n, i = n/1024, i+1
	}
	return strconv.FormatInt(n, 10) + units[i]
}
