package daemon

import (
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/apiserver"
	"github.com/troupe-api/troupe/internal/metrics"
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/tree"
)

// followConfig loads a configuration file of a kind in kinds/api/apiserver, and reloads it after
// each change. topic is authentication or authorization. If apply fails, the previous configuration
// remains in use. Consecutive identical failures count once.
func (b base) followConfig(topic, path string, apply func(t tree.Tree) error) (*configMetrics, error) {
	m, last := newConfigMetrics(topic), ""
	err := b.identity.reloader.AddFile(topic+"-config", path, func() error {
		t, hash, err := loadConfig(b.storage.kinds, configKind(topic), path)
		if err == nil {
			err = apply(t)
		}
		if failure := fmt.Sprint(err); m.hash.Load() != nil && (err == nil || failure != last) {
			m.countReload(err)
			last = failure
		}
		if err == nil {
			m.hash.Store(hash)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("--%s-config %s: %w", topic, path, err)
	}
	return m, nil
}

// loadConfig reads a configuration file, and also returns the hash of its text.
func loadConfig(kinds *catalog.Catalog, name, path string) (t tree.Tree, hash string, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, "", err
	}
	t, err = kinds.DecodeConfig(name, text)
	return t, hashOf(string(text)), err
}

func configKind(topic string) string { return "A" + topic[1:] + "Configuration" }

// configMetrics contains the reload metrics of a configuration file, named as in kube-apiserver.
type configMetrics struct {
	topic, server string       // the latter is the hash of the server's identity
	hash          atomic.Value // a string: the hash of the current configuration
	lastReload    *metrics.Gauges
	reloads       *metrics.Counters
}

// newConfigMetrics creates the metrics. The reload counters start at 0, but the time of the last
// reload is unset until the first reload.
func newConfigMetrics(topic string) *configMetrics {
	host, err := os.Hostname()
	if err != nil {
		host = "localhost"
	}
	prefix := "apiserver_" + topic + "_config_controller_automatic_reload"
	m := &configMetrics{
		topic: topic, server: hashOf(apiserver.ID(host)),
		lastReload: metrics.NewGauges(prefix+"_last_timestamp_seconds", "Time of the last reload of the "+topic+" configuration, by result.", "status", "apiserver_id_hash"),
		reloads:    metrics.NewCounters(prefix+"s_total", "Reloads of the "+topic+" configuration, by result.", "status", "apiserver_id_hash"),
	}
	m.reloads.With("success", m.server)
	m.reloads.With("failure", m.server)
	return m
}

// hashOf hashes server and key IDs, because they may be confidential.
func hashOf(text string) string { return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(text))) }

func (m *configMetrics) countReload(err error) {
	status := "success"
	if err != nil {
		status = "failure"
	}
	m.reloads.With(status, m.server).Inc()
	m.lastReload.With(status, m.server).Set(seconds(time.Now()))
}

// WriteMetrics writes the metrics. Without a configured file, m is nil and nothing is written.
func (m *configMetrics) WriteMetrics(w io.Writer) {
	if m != nil {
		metrics.Write(w, m.lastReload, m.reloads,
			metrics.GaugeValue("apiserver_"+m.topic+"_config_controller_last_config_info", "Hash of the "+m.topic+" configuration in use.",
				metrics.Samples{fmt.Sprintf("apiserver_id_hash=%q,hash=%q", m.server, m.hash.Load()): 1}))
	}
}
