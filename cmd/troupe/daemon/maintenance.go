package daemon

import (
	"context"
	"time"
)

// maintenance reloads certificates, keys and the encryption configuration. It starts last, because
// components cannot register files with a running reloader.
type maintenance struct{ base }

func (m *maintenance) Start() error {
	m.config.TLS.warn(m.log)
	m.warnOfFeatureGates()
	m.run(func(ctx context.Context) {
		m.identity.reloader.Run(ctx, time.Duration(m.config.TLS.ReloadPeriod))
	})
	m.state.encryption.run(m.base)
	return nil
}
