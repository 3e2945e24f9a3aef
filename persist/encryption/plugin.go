package encryption

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/troupe-api/troupe/persist"
)

// Probe periods and seed lifetime match kube-apiserver, so that administrators can plan key
// rotations in the same way. A seed expires seedTTL after the last successful probe.
const (
	probePeriod = time.Minute
	retryPeriod = 10 * time.Second
	seedTTL     = 3 * time.Minute
	// A health check requests a new status if the last status is older than healthyTTL or, after a
	// failed probe, than unhealthyTTL.
	healthyTTL   = 20 * time.Second
	unhealthyTTL = 3 * time.Second
	// openPatience is how long startup waits for an unresponsive plugin.
	openPatience = 15 * time.Second
	openRetry    = 200 * time.Millisecond
	// maxSeeds limits the number of seeds cached for reading. Each process run leaves one seed per
	// key.
	maxSeeds = 4096
)

// A plugin is the provider for a KMS plugin. The KMS plugin encrypts a seed once, and the provider
// encrypts values with the seed. It calls the KMS plugin again only when the plugin's key changes,
// so writes never wait for it.
type plugin struct {
	name   string
	begin  string // prefix of stored values
	client *kmsClient
	events Events
	now    func() time.Time
	log    *slog.Logger

	state atomic.Pointer[seedState] // nil before the plugin has encrypted a seed

	probing  sync.Mutex // held during a probe; guards the next two fields
	version  string     // API version of the plugin, which must not change
	lastText string     // text of the last logged error

	mu      sync.Mutex // guards the following fields; held only briefly
	lastErr error      // error of the last probe
	lastAt  time.Time  // time of the last probe
	nextAt  time.Time  // time of the next probe

	seedsMu sync.Mutex // guards seeds; held while the plugin decrypts a seed
	seeds   map[string]openedSeed
}

type seedState struct {
	wrapped wrappedSeed
	header  []byte
	cipher  *derivedGCM
	expires time.Time
}

type openedSeed struct {
	cipher *derivedGCM
	err    error
}

// newPlugin returns a provider without calling the KMS plugin. It is unhealthy and cannot encrypt
// until the first probe.
func newPlugin(of kmsConfig, o Options) *plugin {
	p := &plugin{name: of.Name, begin: marker + "kms:v2:" + escapeName(of.Name) + ":", events: o.Events, now: o.Now, log: o.Logger, seeds: map[string]openedSeed{}}
	timeout, _ := time.ParseDuration(of.Timeout)
	p.client = newKMSClient(of.Endpoint, timeout, func(method, code string, took time.Duration) {
		p.events.KMSCall(p.name, method, code, took)
	})
	p.lastErr = errors.New("the plugin was not queried yet")
	return p
}

func (p *plugin) prefix() string { return p.begin }

func (p *plugin) check() error {
	state := p.state.Load()
	if state == nil {
		return fmt.Errorf("KMS plugin %s has not encrypted a seed yet: %w", p.name, p.health())
	}
	if now := p.now(); now.After(state.expires) {
		return fmt.Errorf("the seed of KMS plugin %s expired at %s: %w", p.name, state.expires.UTC().Format(time.RFC3339), p.health())
	}
	return nil
}

func (p *plugin) health() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lastErr
}

// writerID depends only on the plugin's key, so values encrypted with older seeds are not stale.
func (p *plugin) writerID() string {
	if state := p.state.Load(); state != nil {
		return p.begin + state.wrapped.keyID
	}
	return p.begin
}

// encode must be called only after a successful check, which ensures that state is not nil. It
// loads state once, so that header and cipher belong to the same seed.
func (p *plugin) encode(b, place, value []byte) ([]byte, string) {
	state := p.state.Load()
	b = binary.AppendUvarint(b, uint64(len(state.header)))
	b = append(b, state.header...)
	p.events.KeyIDUsed(p.name, "to_storage", state.wrapped.keyID)
	return state.cipher.seal(b, place, value), p.begin + state.wrapped.keyID
}

// decode treats the header as untrusted input, because it comes from storage and is not
// authenticated until the KMS plugin decrypts it.
func (p *plugin) decode(body, place []byte) ([]byte, string, error) {
	n, used := binary.Uvarint(body)
	if used <= 0 || n > uint64(len(body)-used) {
		return nil, "", errForged
	}
	header, sealed := body[used:used+int(n)], body[used+int(n):]
	wrapped, err := parseHeader(header)
	if err != nil {
		return nil, "", fmt.Errorf("its header: %w", err)
	}
	cipher, err := p.open(header, wrapped)
	if err != nil {
		return nil, "", err
	}
	p.events.KeyIDUsed(p.name, "from_storage", wrapped.keyID)
	value, err := cipher.open(sealed, place)
	return value, p.begin + wrapped.keyID, err
}

// open returns the cipher of a seed. The KMS plugin decrypts each seed once.
//
// Permanent failures are cached too, because they apply to all values of the seed.
func (p *plugin) open(header []byte, wrapped wrappedSeed) (*derivedGCM, error) {
	p.seedsMu.Lock()
	defer p.seedsMu.Unlock()
	if known, ok := p.seeds[string(header)]; ok {
		return known.cipher, known.err
	}
	var seed []byte
	var err error
	for deadline := time.Now().Add(openPatience); ; time.Sleep(openRetry) {
		seed, err = p.client.decrypt(context.Background(), uuid.NewString(), wrapped)
		if err != nil && !errors.Is(err, persist.ErrUnavailable) && p.probe(context.Background()) != nil {
			// While the KMS plugin is unhealthy, assume that the error is temporary.
			err = fmt.Errorf("%w: %w", persist.ErrUnavailable, err)
		}
		if !errors.Is(err, persist.ErrUnavailable) || time.Now().After(deadline) {
			break
		}
	}
	if err == nil && len(seed) != seedBytes {
		err = fmt.Errorf("the plugin returned a seed of %d bytes", len(seed))
	}
	if err != nil {
		err = fmt.Errorf("KMS plugin %s does not decrypt the seed: %w", p.name, err)
		if errors.Is(err, persist.ErrUnavailable) {
			return nil, err
		}
	}
	opened := openedSeed{err: err}
	if err == nil {
		opened.cipher = newDerivedGCM(seed)
	}
	if len(p.seeds) >= maxSeeds {
		clear(p.seeds)
	}
	p.seeds[string(header)] = opened
	return opened.cipher, opened.err
}

// probe requests the plugin's status, and a new seed if its key has changed. After an error, the
// old seed remains in use. p.probing serializes probes and is locked before p.mu. p.mu is not held
// during calls, so that health never blocks.
func (p *plugin) probe(ctx context.Context) error {
	p.probing.Lock()
	defer p.probing.Unlock()
	expires := p.now().Add(seedTTL) // computed before the call, to limit the use of an old key
	status, err := p.client.status(ctx)
	if err == nil {
		err = p.adopt(ctx, status, expires)
	}
	if err != nil {
		err = fmt.Errorf("kmsv2 Provider %s is not healthy, error: %w", p.name, err)
	}
	p.logChange(err)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lastErr, p.lastAt = err, p.now()
	if p.nextAt = p.lastAt.Add(probePeriod); err != nil {
		p.nextAt = p.lastAt.Add(retryPeriod)
	}
	return err
}

// logChange logs when an error first occurs and when it is resolved. The caller holds p.probing.
func (p *plugin) logChange(err error) {
	text := ""
	if err != nil {
		text = err.Error()
	}
	if text != "" && text != p.lastText {
		p.log.Error("a KMS plugin is not healthy", "plugin", p.name, "error", text)
	} else if text == "" && p.lastText != "" {
		p.log.Info("a KMS plugin is healthy again", "plugin", p.name)
	}
	p.lastText = text
}

// adopt validates the plugin's status. It extends the expiry of the seed, or creates a new one if
// the key has changed. The caller holds p.probing.
func (p *plugin) adopt(ctx context.Context, status kmsStatus, expires time.Time) error {
	if status.healthz != "ok" {
		return fmt.Errorf("got unexpected healthz status: %.100q", status.healthz)
	}
	if status.version != "v2" && status.version != "v2beta1" {
		return fmt.Errorf("expected KMSv2 API version v2, got %.100q", status.version)
	}
	if p.version != "" && p.version != status.version {
		return fmt.Errorf("KMSv2 API version should not change after the initial status response version %s, got %s", p.version, status.version)
	}
	p.version = status.version
	if err := checkKeyID(status.keyID); err != nil {
		p.events.InvalidKeyID(p.name, status.keyID)
		return fmt.Errorf("got invalid KMSv2 KeyID: %w", err)
	}
	p.events.KeyIDReported(p.name, status.keyID)
	if state := p.state.Load(); state != nil && state.wrapped.keyID == status.keyID {
		renewed := *state
		renewed.expires = expires
		p.state.Store(&renewed)
		return nil
	}
	return p.newSeed(ctx, status.keyID, expires)
}

// newSeed creates a seed under the reported key. It rejects a plugin that encrypts with a different
// key, because values would be attributed to the wrong key. It replaces the seed and its cipher
// atomically.
func (p *plugin) newSeed(ctx context.Context, keyID string, expires time.Time) error {
	seed := randomBytes(seedBytes)
	wrapped, err := p.client.encrypt(ctx, uuid.NewString(), seed)
	if err == nil {
		err = wrapped.check()
	}
	if err == nil && wrapped.keyID != keyID {
		err = fmt.Errorf("it reports the key %.100q but encrypts with %.100q", keyID, wrapped.keyID)
	}
	if err != nil {
		return fmt.Errorf("failed to rotate the seed: %w", err)
	}
	p.state.Store(&seedState{wrapped: wrapped, header: wrapped.header(), cipher: newDerivedGCM(seed), expires: expires})
	return nil
}

func (p *plugin) dueAt() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.nextAt
}

func (p *plugin) stale() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	ttl := healthyTTL
	if p.lastErr != nil {
		ttl = unhealthyTTL
	}
	return p.now().Sub(p.lastAt) >= ttl
}
