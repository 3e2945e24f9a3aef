package daemon

import (
	"fmt"
	"io"

	"github.com/troupe-api/troupe/cmd/troupe/internal/features"
	"github.com/troupe-api/troupe/internal/metrics"
)

func (c Config) validateFeatures(f *faults) {
	gates, err := features.New(c.API.FeatureGates)
	if err != nil {
		f.check(false, "feature-gates", err.Error())
		return
	}
	f.check(gates.Enabled(features.RemoteRequestHeaderUID) || len(c.Authentication.RequestHeader.UIDHeaders) == 0,
		"requestheader-uid-headers", `requires the "RemoteRequestHeaderUID" feature to be enabled`)
}

func (s *settings) warnOfFeatureGates() {
	for _, name := range s.features.Ineffective() {
		s.log.Warn("feature gate has no effect", "gate", name, "enabled", s.features.Enabled(name))
	}
	for _, name := range s.features.Outdated() {
		s.log.Warn("feature gate may be removed in a future release", "gate", name, "enabled", s.features.Enabled(name))
	}
}

// writeFeatureGates writes the state of every gate, even of gates without effect, so that servers
// are comparable.
func (s *settings) writeFeatureGates(w io.Writer) {
	metrics.GaugeValue("kubernetes_feature_enabled", "Feature gates by stage: 1 if enabled, 0 if disabled.",
		metrics.Each(features.All(), func(g features.Gate) string { return fmt.Sprintf("name=%q,stage=%q", g.Name, g.Stage) },
			func(g features.Gate) any { return s.features.Enabled(g.Name) })).Write(w)
}
