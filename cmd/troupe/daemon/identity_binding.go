package daemon

import (
	"cmp"
	"fmt"
	"path/filepath"

	"github.com/troupe-api/troupe/persist"
	"github.com/troupe-api/troupe/policy/certs"
)

// Labels of the data directory. checksumLabel plus a file name is the label for the checksum of a
// key file that is needed to use the data. certDirLabel contains the directory of the key files, as
// a relative path if it is inside the data directory. Backups omit these labels, because they
// contain no keys.
const (
	checksumLabel = persist.LocalLabel + "checksum/"
	certDirLabel  = persist.LocalLabel + "cert-dir"
)

// binding returns the Binding of the key files to the data directory by their checksums. It is nil
// with etcd, which stores the keys together with the data.
func (id *identity) binding() *certs.Binding {
	if id.state.journal == nil {
		return nil
	}
	return &certs.Binding{
		Get:        func(name string) (string, bool) { return id.state.journal.Label(checksumLabel + name) },
		Set:        func(name, value string) error { return id.state.journal.SetLabel(checksumLabel+name, value) },
		AcceptLoss: id.config.AcceptDataLoss,
		Log:        id.log,
	}
}

func (id *identity) noteCertDir() {
	if id.state.journal == nil || id.config.certDir() == "" {
		return
	}
	dir, err := filepath.Abs(id.config.certDir())
	if err == nil {
		if inside, fault := filepath.Rel(id.config.DataDir, dir); fault == nil && filepath.IsLocal(inside) {
			dir = filepath.ToSlash(inside)
		}
		if noted, ok := id.state.journal.Label(certDirLabel); noted == dir || !ok && dir == defaultCertDir {
			return
		}
		err = id.state.journal.SetLabel(certDirLabel, dir)
	}
	if err != nil {
		id.log.Warn("cannot record the certificate directory", "error", err)
	}
}

// CheckCertificates compares the certificates and keys of a data directory with each other and with
// the recorded checksums. It returns the faults and changes nothing.
func CheckCertificates(dataDir string) ([]error, error) {
	certDir, err := CertDir(dataDir)
	if err != nil {
		return nil, err
	}
	return checkCertificates(dataDir, certDir)
}

func checkCertificates(dataDir, certDir string) ([]error, error) {
	labels, err := persist.Labels(dataDir)
	if err != nil {
		return nil, err
	}
	store := certs.Store{Dir: certDir, Binding: bindingOf(labels)}
	faults := store.Check()
	if err := store.Binding.CheckFile(filepath.Join(store.Dir, serviceAccountKeyFile)); err != nil {
		faults = append(faults, err)
	}
	return faults, nil
}

// CertDir returns the certificate directory of a data directory.
func CertDir(dataDir string) (string, error) {
	labels, err := persist.Labels(dataDir)
	return certDirOf(dataDir, labels), err
}

func certDirOf(dataDir string, labels map[string]string) string {
	dir := cmp.Or(filepath.FromSlash(labels[certDirLabel]), defaultCertDir)
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(dataDir, dir)
	}
	return dir
}

func bindingOf(labels map[string]string) *certs.Binding {
	return &certs.Binding{
		Get: func(name string) (string, bool) { value, ok := labels[checksumLabel+name]; return value, ok },
		Set: func(name, _ string) error { return fmt.Errorf("the checksum of %s is only read here", name) },
	}
}
