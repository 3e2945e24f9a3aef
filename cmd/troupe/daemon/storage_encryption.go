package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/persist"
	"github.com/troupe-api/troupe/persist/encryption"
)

// Encryption configures encryption at rest.
type Encryption struct {
	ConfigFile      string   `flag:"encryption-provider-config"` // "" encrypts nothing
	AutomaticReload bool     `flag:"encryption-provider-config-automatic-reload"`
	ReloadPeriod    Duration `flag:"encryption-provider-config-reload-period"` // between two checks of the file
}

// LoadEncryption reads an EncryptionConfiguration. Its error lists all faults in the file.
func LoadEncryption(path string, naming *meta.Naming) (*encryption.Configuration, error) {
	kinds, err := catalog.New(naming)
	if err != nil {
		return nil, err
	}
	t, hash, err := loadConfig(kinds, "EncryptionConfiguration", path)
	// A YAML error may quote a secret, unless it is about a duplicate field.
	if err != nil && strings.Contains(err.Error(), "yaml: ") && !strings.Contains(err.Error(), "already set in map") {
		err = errors.New("not valid YAML")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return encryption.Parse(codec.AppendAny(nil, t), hash)
}

type atRest struct {
	options     Encryption
	naming      *meta.Naming
	log         *slog.Logger
	transformer *encryption.Transformer
	metrics     *encryptionMetrics
	lastError   string // of the last reload; a repeated error is logged once
}

// newAtRest reads the configuration. Without one, nothing is encrypted, and encrypted values are
// rejected.
func newAtRest(o Encryption, naming *meta.Naming, log *slog.Logger) (*atRest, error) {
	a := &atRest{options: o, naming: naming, log: log, metrics: newEncryptionMetrics()}
	var c *encryption.Configuration
	var err error
	if a.configured() {
		if c, err = LoadEncryption(o.ConfigFile, naming); err != nil {
			return nil, fmt.Errorf("--encryption-provider-config: %w", err)
		}
		a.metrics.hash.Store(c.Hash())
	}
	a.transformer, err = encryption.New(c, encryption.Options{Logger: log, Events: a.metrics})
	return a, err
}

func (a *atRest) configured() bool { return a.options.ConfigFile != "" }

// stale returns a function that reports whether a stored value must be rewritten, for example
// because its key was replaced.
func (a *atRest) stale() func(key string, version persist.Revision) bool {
	if !a.configured() {
		return nil
	}
	return a.transformer.Stale
}

func (a *atRest) run(in base) {
	if !a.configured() {
		return
	}
	in.run(a.transformer.Run)
	if a.options.AutomaticReload {
		in.run(a.follow)
	}
}

func (a *atRest) follow(ctx context.Context) {
	ticker := time.NewTicker(time.Duration(a.options.ReloadPeriod))
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			a.reload(ctx)
		}
	}
}

// reload applies a changed configuration. If it is invalid or its plugins are unhealthy, the
// previous configuration stays in use until the next check.
func (a *atRest) reload(ctx context.Context) {
	c, err := LoadEncryption(a.options.ConfigFile, a.naming)
	if err == nil && c.Hash() == a.transformer.Hash() {
		a.lastError = ""
		return
	}
	if err == nil {
		err = a.transformer.Replace(ctx, c)
	}
	// While the daemon stops, Replace may be interrupted although the file is valid.
	if ctx.Err() != nil {
		return
	}
	a.metrics.countReload(err)
	if err == nil {
		a.lastError = ""
		a.metrics.hash.Store(c.Hash())
		a.log.Info("reloaded the encryption configuration", "file", a.options.ConfigFile, "hash", c.Hash())
		return
	}
	if text := err.Error(); text != a.lastError {
		a.lastError = text
		a.log.Error("failed to reload the encryption configuration; the previous one stays in use", "error", text)
	}
}

// LoadAnyEncryption is like LoadEncryption, but accepts files of any naming profile.
func LoadAnyEncryption(path string) (*encryption.Configuration, error) {
	var errs []error
	for _, naming := range []*meta.Naming{meta.Platform, meta.Kubernetes} {
		c, err := LoadEncryption(path, naming)
		if err == nil {
			return c, nil
		}
		errs = append(errs, err)
	}
	return nil, errors.Join(errs...)
}
