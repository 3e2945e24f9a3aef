package daemon

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"

	"github.com/troupe-api/troupe/policy/authn/serviceaccount"
	"github.com/troupe-api/troupe/policy/certs"
)

// The daemons of a cluster share keys, because they must accept each other's tokens and
// certificates. Keys that no flag configures are stored in etcd, encrypted like Secrets. Each
// daemon copies the keys to its certificate directory and reads them there.

// sharedFiles lists the shared files in the certificate directory. Each daemon issues its own
// versions of the others.
var sharedFiles = []string{"ca.crt", "ca.key", "front-proxy-ca.crt", "front-proxy-ca.key", serviceAccountKeyFile}

const sharedKeysName = "keys"

// shareKeys writes the shared files from etcd to disk. The first daemon generates and stores them.
func (id *identity) shareKeys() error {
	ctx, log := context.Background(), id.state.etcd
	text, err := log.Secret(ctx, sharedKeysName)
	if err == nil && text == nil {
		if text, err = id.makeSharedKeys(); err == nil {
			text, err = log.EnsureSecret(ctx, sharedKeysName, text)
		}
	}
	if err != nil {
		return fmt.Errorf("shared keys: %w", err)
	}
	return writeSharedFiles(id.config.certDir(), text, id.log)
}

func (id *identity) makeSharedKeys() ([]byte, error) {
	if err := id.loadCertificates(); err != nil { // loaded again once the keys are shared
		return nil, err
	}
	dir := id.config.certDir()
	if err := id.binding().EnsureFile(filepath.Join(dir, serviceAccountKeyFile), serviceaccount.NewKey); err != nil {
		return nil, err
	}
	return readSharedFiles(dir)
}

func readSharedFiles(dir string) ([]byte, error) {
	files := map[string][]byte{}
	for _, name := range sharedFiles {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		files[name] = text
	}
	return json.Marshal(files)
}

// writeSharedFiles writes the shared files to the certificate directory. Existing certificates from
// other CAs are reissued later.
func writeSharedFiles(dir string, shared []byte, log *slog.Logger) error {
	var files map[string][]byte
	if err := json.Unmarshal(shared, &files); err != nil {
		return fmt.Errorf("shared keys: %w", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for name, text := range files {
		if !slices.Contains(sharedFiles, name) {
			return fmt.Errorf("shared keys: unknown file %q", name)
		}
		path := filepath.Join(dir, name)
		have, err := os.ReadFile(path)
		switch {
		case err == nil && bytes.Equal(have, text):
			continue
		case err == nil:
			log.Warn("replaced a key file by the shared one in etcd", "file", path)
		case !errors.Is(err, fs.ErrNotExist):
			return err
		}
		if err := certs.WriteFile(path, text); err != nil {
			return err
		}
	}
	return nil
}
