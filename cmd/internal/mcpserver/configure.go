package mcpserver

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/internal/settings"
)

// configureInput is the input of checkpoint_configure. Absent values are not changed.
// Package settings validates the others.
type configureInput struct {
	OnClear   any `json:"auto_checkpoint_on_clear"`
	OnStart   any `json:"auto_resume_on_start"`
	Threshold any `json:"checkpoint_threshold"`
	Verify    any `json:"verify_before_clear"`
}

// configured is the result of checkpoint_configure.
type configured struct {
	Success bool            `json:"success"`
	Config  effectiveConfig `json:"config"`
	// Note describes the changed values that have no effect because another layer overrides
	// the user's settings.
	Note string `json:"note,omitempty"`
}

// effectiveConfig holds the effective values.
type effectiveConfig struct {
	OnClear   any  `json:"auto_checkpoint_on_clear"`
	OnStart   any  `json:"auto_resume_on_start"`
	Threshold int  `json:"checkpoint_threshold_percent"`
	Verify    bool `json:"verify_before_clear"`
}

// configure implements checkpoint_configure.
func (s *Server) configure(_ context.Context, _ call, in configureInput) (result, error) {
	if f, ok := in.Threshold.(float64); ok && f == math.Trunc(f) && math.Abs(f) < math.MaxInt32 {
		in.Threshold = int(f)
	}
	changes := slices.DeleteFunc([]settings.Change{
		{Key: settings.KeyOnClear, Value: in.OnClear},
		{Key: settings.KeyOnStart, Value: in.OnStart},
		{Key: settings.KeyThreshold, Value: in.Threshold},
		{Key: settings.KeyVerify, Value: in.Verify},
	}, func(c settings.Change) bool { return c.Value == nil })
	now, err := s.Configure(s.Dir, changes)
	if err != nil {
		return nil, err
	}
	keys := make([]string, 0, len(changes))
	for _, c := range changes {
		keys = append(keys, c.Key)
	}
	var parts []string // the layers that override the user's
	for _, o := range now.Overrides(settings.User, keys...) {
		by := o.Source.Layer.String()
		if o.Source.Name != "" {
			by += " (" + o.Source.Name + ")"
		}
		parts = append(parts, fmt.Sprintf("%s is decided by the %s, which overrides the user's settings", strings.TrimPrefix(o.Key, "recall."), by))
	}
	return data(configured{
		Success: true,
		Config: effectiveConfig{
			OnClear: now.Recall.OnClear.Value(), OnStart: now.Recall.OnStart.Value(),
			Threshold: now.Recall.Threshold, Verify: now.Recall.VerifyBeforeClear,
		},
		Note: strings.Join(parts, "; "),
	})
}
