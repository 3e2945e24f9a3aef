package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/persist"
	"github.com/troupe-api/troupe/persist/encryption"
)

// Encryption says with what objects are encrypted on the disk.
type Encryption struct {
	ConfigFile      string   `flag:"encryption-provider-config"`                  // an EncryptionConfiguration; "" encrypts nothing
	AutomaticReload bool     `flag:"encryption-provider-config-automatic-reload"` // reads the file again when it has changed
	ReloadPeriod    Duration `flag:"encryption-provider-config-reload-period"`    // between two looks at the file
}

// LoadEncryption reads an EncryptionConfiguration. The error names the file and every fault in it.
func LoadEncryption(path string, naming *meta.Naming) (*encryption.Configuration, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	c, err := encryption.Parse(text, encryption.Naming{
		APIVersion: naming.Group("apiserver.config") + "/v1", EventsGroup: naming.Group("events"),
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

// atRest is the encryption of what is stored, and the file that says with what.
type atRest struct {
	options     Encryption
	naming      *meta.Naming
	log         *slog.Logger
	transformer *encryption.Transformer
	metrics     *encryptionMetrics
	lastError   string // of the last reload, so that it is logged once
}

// newAtRest reads the file. Without one, nothing is encrypted, and what is encrypted is known to be so.
func newAtRest(o Encryption, naming *meta.Naming, log *slog.Logger) (*atRest, error) {
	a := &atRest{options: o, naming: naming, log: log, metrics: newEncryptionMetrics()}
	var c *encryption.Configuration
	var err error
	if a.configured() {
		if c, err = LoadEncryption(o.ConfigFile, naming); err != nil {
			return nil, fmt.Errorf("--encryption-provider-config: %w", err)
		}
		a.metrics.setConfig(c.Hash())
	}
	a.transformer, err = encryption.New(c, encryption.Options{Logger: log, Events: a.metrics})
	return a, err
}

// configured tells whether a file says what is encrypted. Without one the transformer still exists, to recognize values
// that are encrypted and refuse them.
func (a *atRest) configured() bool { return a.options.ConfigFile != "" }

// stale is Options.Stale of the store.
func (a *atRest) stale() func(key string, version persist.Revision) bool {
	if !a.configured() {
		return nil
	}
	return a.transformer.Stale
}

// run follows the file and the KMS plugins.
func (a *atRest) run(in base) {
	if !a.configured() {
		return
	}
	in.run(a.transformer.Run)
	if a.options.AutomaticReload {
		in.run(a.follow)
	}
}

// follow looks at the file once every period.
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

// reload goes over to what the file says now. A file that cannot be used, or whose plugins are not well, is tried
// again, and what was in use before stays.
func (a *atRest) reload(ctx context.Context) {
	c, err := LoadEncryption(a.options.ConfigFile, a.naming)
	// Nothing to do. An error that was logged before is forgotten, so that it is logged again should it come back.
	if err == nil && c.Hash() == a.transformer.Hash() {
		a.lastError = ""
		return
	}
	if err == nil {
		err = a.transformer.Replace(ctx, c)
	}
	// The daemon stops, which may have cut Replace short: that is no failure of the file.
	if ctx.Err() != nil {
		return
	}
	a.metrics.countReload(err)
	if err == nil {
		a.lastError = ""
		a.metrics.setConfig(c.Hash())
		a.log.Info("another encryption configuration is in use", "file", a.options.ConfigFile, "hash", c.Hash())
		return
	}
	// The same error comes back at every look until the file is corrected.
	if text := err.Error(); text != a.lastError {
		a.lastError = text
		a.log.Error("the encryption configuration cannot be used; the previous one stays in use", "error", text)
	}
}

// LoadAnyEncryption is LoadEncryption for who does not know the naming profile: the file itself tells.
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
