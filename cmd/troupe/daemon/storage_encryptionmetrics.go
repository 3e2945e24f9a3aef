package daemon

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/troupe-api/troupe/internal/metrics"
)

// encryptionMetrics holds the metrics of encryption at rest, with kube-apiserver's names. Plugins
// choose the key IDs, so the number of series is limited.
type encryptionMetrics struct {
	*configMetrics
	operations, invalid *metrics.Counters
	took, calls         *metrics.Histograms

	mu       sync.Mutex // guards the fields below
	used     map[keyUse]*useFigures
	reported map[keyUse]time.Time
}

type (
	keyUse     struct{ direction, plugin, key string }
	useFigures struct {
		count uint64
		last  time.Time
	}
)

// maxKeyIDs limits the number of key IDs with metrics. The most recently used key IDs are kept.
const maxKeyIDs = 100

func newEncryptionMetrics() *encryptionMetrics {
	const storage, envelope = "apiserver_storage_transformation_", "apiserver_envelope_encryption_"
	return &encryptionMetrics{
		configMetrics: newConfigMetrics("encryption"),
		operations: metrics.NewCounters(storage+"operations_total", "Values encrypted and decrypted.",
			"resource", "transformation_type", "transformer_prefix", "status"),
		took: metrics.NewHistograms(storage+"duration_seconds", "Duration of encrypting or decrypting a value.",
			metrics.ExponentialBuckets(5e-6, 2, 25), "transformation_type", "transformer_prefix"),
		invalid: metrics.NewCounters(envelope+"invalid_key_id_from_status_total",
			"Invalid key ids returned by KMS plugins.", "provider_name", "error"),
		calls: metrics.NewHistograms(envelope+"kms_operations_latency_seconds", "Duration of KMS plugin calls.",
			metrics.ExponentialBuckets(1e-4, 2, 20), "provider_name", "method_name", "grpc_status_code"),
		used: map[keyUse]*useFigures{}, reported: map[keyUse]time.Time{},
	}
}

func (m *encryptionMetrics) Transformed(resource, direction, prefix string, err error, took time.Duration) {
	status := "OK"
	if err != nil {
		status = "Unknown"
	}
	m.operations.With(resource, direction, prefix, status).Inc()
	m.took.With(direction, prefix).ObserveDuration(took)
}

func (m *encryptionMetrics) KMSCall(plugin, method, code string, took time.Duration) {
	m.calls.With(plugin, method, code).ObserveDuration(took)
}

func (m *encryptionMetrics) KeyIDUsed(plugin, direction, keyID string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	use := keyUse{direction, plugin, keyID}
	if m.used[use] == nil {
		forgetOldest(m.used, func(u *useFigures) time.Time { return u.last })
		m.used[use] = &useFigures{}
	}
	m.used[use].count++
	m.used[use].last = time.Now()
}

func (m *encryptionMetrics) KeyIDReported(plugin, keyID string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	use := keyUse{plugin: plugin, key: keyID}
	if _, known := m.reported[use]; !known {
		forgetOldest(m.reported, func(last time.Time) time.Time { return last })
	}
	m.reported[use] = time.Now()
}

func forgetOldest[V any](all map[keyUse]V, last func(V) time.Time) {
	if len(all) < maxKeyIDs {
		return
	}
	oldest := slices.MinFunc(slices.Collect(maps.Keys(all)), func(a, b keyUse) int { return last(all[a]).Compare(last(all[b])) })
	delete(all, oldest)
}

func (m *encryptionMetrics) InvalidKeyID(plugin, keyID string) {
	fault := "too_long"
	if keyID == "" {
		fault = "empty"
	}
	m.invalid.With(plugin, fault).Inc()
}

// WriteMetrics writes the metrics in the text exposition format. Without encryption, it writes
// nothing.
func (m *encryptionMetrics) WriteMetrics(w io.Writer) {
	if m.hash.Load() == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.configMetrics.WriteMetrics(w)
	metrics.Write(w, m.operations, m.took)
	m.writeKeys(w)
	metrics.Write(w, m.invalid, m.calls)
}

// writeKeys writes the metrics of the KMS keys that plugins use or report. The caller holds m.mu.
func (m *encryptionMetrics) writeKeys(w io.Writer) {
	labels := func(u keyUse) string {
		return fmt.Sprintf("provider_name=%q,key_id_hash=%q,apiserver_id_hash=%q", u.plugin, hashOf(u.key), m.server)
	}
	lastUses, uses, reported := metrics.Samples{}, metrics.Samples{}, metrics.Samples{}
	for u, figures := range m.used {
		l := fmt.Sprintf("transformation_type=%q,", u.direction) + labels(u)
		lastUses[l], uses[l] = seconds(figures.last), figures.count
	}
	for u, last := range m.reported {
		reported[labels(u)] = seconds(last)
	}
	const prefix = "apiserver_envelope_encryption_key_id_hash_"
	metrics.Write(w,
		metrics.GaugeValue(prefix+"last_timestamp_seconds", "Time of the last use of a KMS key.", lastUses),
		metrics.GaugeValue(prefix+"status_last_timestamp_seconds", "Time of the last status response of a KMS plugin with a key id.", reported),
		metrics.CounterValue(prefix+"total", "Values encrypted or decrypted with a KMS key.", uses))
}

func seconds(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }
