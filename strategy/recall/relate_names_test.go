package recall_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/strategy/recall"
)

// TestNamed checks that the named paths are those whose base name is in the prompt, or that share a
// word with it that few paths contain.
func TestNamed(t *testing.T) {
	t.Parallel()
	paths := []string{"billing/invoice_list.go", "billing/invoice_store.go", "billing/InvoiceTable.tsx", "billing/ledger.go", "README.md", "docs/cursor.md"}
	for prompt, want := range map[string][]string{
		"Sort invoice_list.go by date":   {"billing/invoice_list.go"},
		"Paginate the ledger":            {"billing/ledger.go"},
		"Move the cursors and the store": {"billing/invoice_store.go", "docs/cursor.md"},
		"Change the invoices":            nil, // half of the paths contain the word
		"Fix the tests":                  nil,
		"Implement the following plan:\n\n# docs\n\n`README.md` names it": {"README.md"},
	} {
		got := slices.Sorted(maps.Keys(recall.Named(prompt, paths)))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", prompt, diff)
		}
	}
}
