package daemon

import (
	"github.com/troupe-api/troupe/cmd/troupe/internal/features"
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
