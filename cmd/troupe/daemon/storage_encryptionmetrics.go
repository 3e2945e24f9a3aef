package daemon

import (
	"cmp"
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/VictoriaMetrics/metrics"

	"github.com/troupe-api/troupe/policy/webhookclient"
)

// encryptionMetrics are the figures of encryption at rest, in the names of the reference. They implement
// encryption.Events. Key ids are a plugin's, so only the last of them have series.
type encryptionMetrics struct {
	server string // hash of the daemon's identity

	mu         sync.Mutex // guards what follows
	config     string     // hash of the configuration that is in use
	reloads    map[string]*reloadFigures
	operations map[transformation]uint64
	took       map[transformation]*webhookclient.Histogram // by direction and prefix only
	calls      map[kmsCall]*webhookclient.Histogram
	used       map[keyUse]*useFigures
	reported   map[keyUse]time.Time
	invalid    map[[2]string]uint64 // by plugin and fault
}

// What the figures are counted by, and the figures themselves. Each of the key types has exactly the labels of its series,
// so that a map of it has one entry for each line of the metrics.
type (
	reloadFigures struct {
		count uint64
		last  time.Time
	}
	transformation struct{ resource, direction, prefix, status string }
	kmsCall        struct{ plugin, method, code string }
	keyUse         struct{ direction, plugin, key string }
	useFigures     struct {
		count uint64
		last  time.Time
	}
)

// maxKeyIDs is how many key ids have series.
const maxKeyIDs = 100

// newEncryptionMetrics makes the figures, with both outcomes of a reload present from the start at 0.
func newEncryptionMetrics() *encryptionMetrics {
	return &encryptionMetrics{
		server: hashOf(serverIdentity()), reloads: map[string]*reloadFigures{"success": {}, "failure": {}}, operations: map[transformation]uint64{},
		took: map[transformation]*webhookclient.Histogram{}, calls: map[kmsCall]*webhookclient.Histogram{}, used: map[keyUse]*useFigures{},
		reported: map[keyUse]time.Time{}, invalid: map[[2]string]uint64{},
	}
}

// serverIdentity is how servers of the reference name themselves: by a digest of their host's name.
func serverIdentity() string {
	host, err := os.Hostname()
	if err != nil {
		host = "localhost"
	}
	sum := sha256.Sum256([]byte(host))
	return "apiserver-" + strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:16]))
}

// hashOf is how metrics name servers and keys: an id of a key may tell more than whoever reads metrics is to know.
func hashOf(text string) string { return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(text))) }

// setConfig records the hash of the configuration that is in use.
func (m *encryptionMetrics) setConfig(hash string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.config = hash
}

// countReload counts an attempt to go over to another configuration. A look that finds the file unchanged is none.
func (m *encryptionMetrics) countReload(err error) {
	status := "success"
	if err != nil {
		status = "failure"
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.reloads[status].count++
	m.reloads[status].last = time.Now()
}

// Transformed implements encryption.Events.
func (m *encryptionMetrics) Transformed(resource, direction, prefix string, err error, took time.Duration) {
	status := "OK"
	if err != nil {
		status = "Unknown"
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.operations[transformation{resource, direction, prefix, status}]++
	observe(m.took, transformation{direction: direction, prefix: prefix}, 5e-6, 25, took)
}

// KMSCall implements encryption.Events.
func (m *encryptionMetrics) KMSCall(plugin, method, code string, took time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	observe(m.calls, kmsCall{plugin, method, code}, 1e-4, 20, took)
}

// observe counts a duration in a histogram whose n buckets begin with least and double.
func observe[K comparable](all map[K]*webhookclient.Histogram, key K, least float64, n int, took time.Duration) {
	if all[key] == nil {
		buckets := make([]float64, n)
		for i := range buckets {
			buckets[i] = least * float64(uint64(1)<<i)
		}
		all[key] = webhookclient.NewHistogram(buckets)
	}
	all[key].Add(took)
}

// KeyIDUsed implements encryption.Events.
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

// KeyIDReported implements encryption.Events.
func (m *encryptionMetrics) KeyIDReported(plugin, keyID string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	use := keyUse{plugin: plugin, key: keyID}
	if _, known := m.reported[use]; !known {
		forgetOldest(m.reported, func(last time.Time) time.Time { return last })
	}
	m.reported[use] = time.Now()
}

// forgetOldest makes room for one more key id.
func forgetOldest[V any](all map[keyUse]V, last func(V) time.Time) {
	if len(all) < maxKeyIDs {
		return
	}
	oldest := slices.MinFunc(slices.Collect(maps.Keys(all)), func(a, b keyUse) int { return last(all[a]).Compare(last(all[b])) })
	delete(all, oldest)
}

// InvalidKeyID implements encryption.Events.
func (m *encryptionMetrics) InvalidKeyID(plugin, keyID string) {
	fault := "too_long"
	if keyID == "" {
		fault = "empty"
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.invalid[[2]string{plugin, fault}]++
}

// WriteMetrics writes the series in the text exposition format; none if nothing is encrypted.
func (m *encryptionMetrics) WriteMetrics(w io.Writer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.config == "" {
		return
	}
	m.writeConfig(w)
	m.writeTransformations(w)
	m.writeKMS(w)
}

// writeConfig writes which configuration is in use and how reloads went. An outcome that has never happened has no time.
func (m *encryptionMetrics) writeConfig(w io.Writer) {
	const prefix = "apiserver_encryption_config_controller_"
	head := func(name, kind, help string) string {
		fmt.Fprintf(w, "# HELP %s%s %s\n# TYPE %[1]s%[2]s %[4]s\n", prefix, name, help, kind)
		return prefix + name
	}
	statuses := slices.Sorted(maps.Keys(m.reloads))
	name := head("automatic_reload_last_timestamp_seconds", "gauge", "When the encryption configuration was last reloaded, or failed to be.")
	for _, status := range statuses {
		if last := m.reloads[status].last; !last.IsZero() {
			metrics.WriteGaugeFloat64(w, fmt.Sprintf("%s{status=%q,apiserver_id_hash=%q}", name, status, m.server), seconds(last))
		}
	}
	name = head("automatic_reloads_total", "counter", "How often the encryption configuration was reloaded, or failed to be.")
	for _, status := range statuses {
		metrics.WriteCounterUint64(w, fmt.Sprintf("%s{status=%q,apiserver_id_hash=%q}", name, status, m.server), m.reloads[status].count)
	}
	name = head("last_config_info", "gauge", "The encryption configuration that is in use, by its hash.")
	metrics.WriteGaugeUint64(w, fmt.Sprintf("%s{apiserver_id_hash=%q,hash=%q}", name, m.server, m.config), 1)
}

// writeTransformations writes the series of values that were encrypted or decrypted. They are sorted, so that two scrapes
// can be compared line by line.
func (m *encryptionMetrics) writeTransformations(w io.Writer) {
	name := "apiserver_storage_transformation_operations_total"
	fmt.Fprintf(w, "# HELP %s Values encrypted and decrypted.\n# TYPE %[1]s counter\n", name)
	for _, o := range slices.SortedFunc(maps.Keys(m.operations), compareTransformations) {
		metrics.WriteCounterUint64(w, fmt.Sprintf("%s{resource=%q,transformation_type=%q,transformer_prefix=%q,status=%q}",
			name, o.resource, o.direction, o.prefix, o.status), m.operations[o])
	}
	name = "apiserver_storage_transformation_duration_seconds"
	fmt.Fprintf(w, "# HELP %s How long it takes to encrypt or decrypt a value.\n# TYPE %[1]s histogram\n", name)
	for _, o := range slices.SortedFunc(maps.Keys(m.took), compareTransformations) {
		m.took[o].Write(w, name, fmt.Sprintf("transformation_type=%q,transformer_prefix=%q", o.direction, o.prefix))
	}
}

// compareTransformations orders by all labels, so that the order is total.
func compareTransformations(a, b transformation) int {
	return cmp.Or(cmp.Compare(a.resource, b.resource), cmp.Compare(a.direction, b.direction), cmp.Compare(a.prefix, b.prefix), cmp.Compare(a.status, b.status))
}

// writeKMS writes the series of KMS plugins: the keys that were used, those that plugins have named, and the calls.
func (m *encryptionMetrics) writeKMS(w io.Writer) {
	const prefix = "apiserver_envelope_encryption_"
	head := func(name, kind, help string) string {
		fmt.Fprintf(w, "# HELP %s%s %s\n# TYPE %[1]s%[2]s %[4]s\n", prefix, name, help, kind)
		return prefix + name
	}
	uses := slices.SortedFunc(maps.Keys(m.used), compareUses)
	labels := func(u keyUse) string {
		return fmt.Sprintf("transformation_type=%q,provider_name=%q,key_id_hash=%q,apiserver_id_hash=%q", u.direction, u.plugin, hashOf(u.key), m.server)
	}
	name := head("key_id_hash_last_timestamp_seconds", "gauge", "When a key of a KMS plugin was last used for a value.")
	for _, u := range uses {
		metrics.WriteGaugeFloat64(w, name+"{"+labels(u)+"}", seconds(m.used[u].last))
	}
	name = head("key_id_hash_status_last_timestamp_seconds", "gauge", "When a KMS plugin last named a key as the one that it uses.")
	for _, u := range slices.SortedFunc(maps.Keys(m.reported), compareUses) {
		metrics.WriteGaugeFloat64(w, fmt.Sprintf("%s{provider_name=%q,key_id_hash=%q,apiserver_id_hash=%q}", name, u.plugin, hashOf(u.key), m.server), seconds(m.reported[u]))
	}
	name = head("key_id_hash_total", "counter", "Values for which a key of a KMS plugin was used.")
	for _, u := range uses {
		metrics.WriteCounterUint64(w, name+"{"+labels(u)+"}", m.used[u].count)
	}
	name = head("invalid_key_id_from_status_total", "counter", "How often a KMS plugin has named a key by an id that cannot be used.")
	for _, k := range slices.SortedFunc(maps.Keys(m.invalid), func(a, b [2]string) int { return slices.Compare(a[:], b[:]) }) {
		metrics.WriteCounterUint64(w, fmt.Sprintf("%s{provider_name=%q,error=%q}", name, k[0], k[1]), m.invalid[k])
	}
	name = head("kms_operations_latency_seconds", "histogram", "How long calls to KMS plugins take.")
	byCall := func(a, b kmsCall) int {
		return cmp.Or(cmp.Compare(a.plugin, b.plugin), cmp.Compare(a.method, b.method), cmp.Compare(a.code, b.code))
	}
	for _, c := range slices.SortedFunc(maps.Keys(m.calls), byCall) {
		m.calls[c].Write(w, name, fmt.Sprintf("provider_name=%q,method_name=%q,grpc_status_code=%q", c.plugin, c.method, c.code))
	}
}

// compareUses orders by all labels, the plugin first.
func compareUses(a, b keyUse) int {
	return cmp.Or(cmp.Compare(a.plugin, b.plugin), cmp.Compare(a.key, b.key), cmp.Compare(a.direction, b.direction))
}

// seconds is a time as metrics have it: seconds since 1970, exact to the millisecond.
func seconds(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }
