package history

import (
	_ "embed" // the table of prices
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/index"
	"github.com/seed-3aff656d/entire/internal/settings"
)

//go:embed prices.json
var ownPrices []byte

// prices is a table of the prices of a million tokens.
type prices struct {
	Date     string           `json:"date"`
	Currency string           `json:"currency"`
	Models   map[string]price `json:"models"`
}

type price struct {
	Input      float64 `json:"input"`
	CacheWrite float64 `json:"cache_write"`
	CacheRead  float64 `json:"cache_read"`
	Output     float64 `json:"output"`
}

// loadPrices reads the user's table, which replaces the built-in table as a whole.
func loadPrices(a *app.App) (prices, error) {
	path := filepath.Join(filepath.Dir(settings.UserFile(a.SettingsSources(nil))), "prices.json")
	data, err := disk.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return decodePrices(ownPrices)
	}
	if err != nil {
		return prices{}, err
	}
	p, err := decodePrices(data)
	if err != nil {
		return prices{}, app.WithHint(fmt.Errorf("%s: %w", path, err), "see docs/formats/ask.md; without the file, built-in prices apply")
	}
	return p, nil
}

func decodePrices(data []byte) (p prices, err error) {
	if err := json.Unmarshal(data, &p); err != nil {
		return p, err
	}
	for name, m := range p.Models {
		if min(m.Input, m.CacheWrite, m.CacheRead, m.Output) < 0 {
			return p, fmt.Errorf("%s: a price is negative", name)
		}
	}
	return p, nil
}

// of returns the price of a model, by its name or by its name without a trailing date or "latest".
// It guesses no further.
func (p *prices) of(model string) (price, bool) {
	if found, ok := p.Models[model]; ok {
		return found, true
	}
	at := strings.LastIndexByte(model, '-')
	if at < 0 {
		return price{}, false
	}
	const digits = 8
	end := model[at+1:]
	isDate := len(end) == digits && strings.Trim(end, "0123456789") == ""
	if !isDate && end != "latest" {
		return price{}, false
	}
	found, ok := p.Models[model[:at]]
	return found, ok
}

// cost returns the price of tokens.
func (m price) cost(t index.Tokens) float64 {
	const million = 1e6
	return (m.Input*float64(t.Input) + m.CacheWrite*float64(t.CacheWrite) + m.CacheRead*float64(t.CacheRead) + m.Output*float64(t.Output)) / million
}
