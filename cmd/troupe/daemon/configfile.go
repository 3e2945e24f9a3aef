package daemon

import (
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/apiserver"
	"github.com/troupe-api/troupe/internal/metrics"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
	"sigs.k8s.io/yaml"
)

// followConfig reads a configuration file of kinds/api/apiserver, and again after each change.
// topic is authentication or authorization. If apply fails, the previous configuration stays in
// use. A repeated failure is counted once.
func (b base) followConfig(topic, path string, apply func(t tree.Tree) error) (*configMetrics, error) {
	m, last := newConfigMetrics(topic), ""
	err := b.identity.reloader.AddFile(topic+"-config", path, func() error {
		text, err := os.ReadFile(path)
		var t tree.Tree
		if err == nil {
			t, err = b.decodeConfig(configKind(topic), text)
		}
		if err == nil {
			err = apply(t)
		}
		if failure := fmt.Sprint(err); m.hash.Load() != nil && (err == nil || failure != last) {
			m.countReload(err)
			last = failure
		}
		if err == nil {
			m.hash.Store(hashOf(string(text)))
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("--%s-config %s: %w", topic, path, err)
	}
	return m, nil
}

func configKind(topic string) string { return "A" + topic[1:] + "Configuration" }

func (b base) decodeConfig(kind string, text []byte) (tree.Tree, error) {
	json, err := yaml.YAMLToJSONStrict(text)
	if err != nil {
		return nil, err
	}
	m := b.storage.kinds.Message("apiserver.v1." + kind)
	t, unknown, err := codec.DecodeJSON(m, json)
	if err != nil {
		return nil, err
	}
	if len(unknown) > 0 {
		return nil, fmt.Errorf("strict decoding error: %v", unknown[0])
	}
	version, ok := strings.CutPrefix(t.String("apiVersion"), b.naming.Group("apiserver.config")+"/")
	if !ok || t.String("kind") != kind || !slices.Contains([]string{"v1", "v1beta1", "v1alpha1"}, version) {
		return nil, fmt.Errorf("no kind %q is registered for version %q", t.String("kind"), t.String("apiVersion"))
	}
	rules.DefaultValue(m.Values, t)
	return t, b.validateConfig(kind, t)
}

func (b base) validateConfig(kind string, t tree.Tree) error {
	var faults schema.Faults
	schema.Run(b.storage.kinds.Message("apiserver.v1."+kind).Checks().Validate, t, nil, "", &faults)
	if len(faults.List) > 0 {
		return meta.NewInvalid(meta.GroupKind{Kind: kind}, "", faults.List)
	}
	return nil
}

// configMetrics holds the metrics of the reloads of a configuration file, with kube-apiserver's
// names.
type configMetrics struct {
	topic, server string       // the latter is the hash of the server's identity
	hash          atomic.Value // of the current configuration; a string
	lastReload    *metrics.Gauges
	reloads       *metrics.Counters
}

// newConfigMetrics creates the metrics. The counters of successful and failed reloads start at 0,
// but the time of the last reload stays unset until a reload happens.
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

// WriteMetrics writes nothing for a nil m, which stands for no file.
func (m *configMetrics) WriteMetrics(w io.Writer) {
	if m != nil {
		metrics.Write(w, m.lastReload, m.reloads,
			metrics.GaugeValue("apiserver_"+m.topic+"_config_controller_last_config_info", "Hash of the "+m.topic+" configuration in use.",
				metrics.Samples{fmt.Sprintf("apiserver_id_hash=%q,hash=%q", m.server, m.hash.Load()): 1}))
	}
}
