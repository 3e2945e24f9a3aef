package command

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/persist"
	"github.com/troupe-api/troupe/policy/certs"
)

// lookAtDirectory checks a data directory, its file system and its certificates.
func (d *diagnosis) lookAtDirectory(dir string) {
	d.printf("directory %s\n", dir)
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		d.fault("Give the directory of --data-dir. troupe serve makes it at the first start.", "there is no such directory")
		return
	case err != nil:
		d.fault("Run this as the user of the daemon.", "%v", err)
		return
	case !info.IsDir():
		d.fault("Give the directory of --data-dir.", "it is no directory")
		return
	}
	if info.Mode().Perm()&0o077 != 0 {
		d.fault("It holds Secrets and private keys: chmod 0700 "+dir, "others than its owner may read it (mode %04o)", info.Mode().Perm())
	} else {
		d.ok("only its owner may read it")
	}
	d.lookAtFileSystem(dir)
	d.lookAtContent(dir)
	certDir, err := daemon.CertDir(dir)
	if err != nil {
		return // lookAtContent has reported the error
	}
	d.lookAtKeys(dir)
	d.lookAtCertificates(certDir)
}

// lookAtKeys checks that certificates and keys match each other and the data.
func (d *diagnosis) lookAtKeys(dir string) {
	faults, err := daemon.CheckCertificates(dir)
	if err != nil {
		d.fault("Run this as the user of the daemon.", "%v", err)
		return
	}
	for _, fault := range faults {
		advice := "Run this as the user of the daemon."
		if file, ok := errors.AsType[*certs.FileError](fault); ok {
			advice = file.Advice
		}
		d.fault(advice, "%v", fault)
	}
	if len(faults) == 0 {
		d.ok("certificates and keys belong to the data")
	}
}

// A fileSystem describes the file system of a data directory.
type fileSystem struct {
	free  float64 // bytes available to the daemon
	doubt string  // why it is unsuitable; "" if it is suitable
}

// littleRoom is the free space below which the next snapshot may not fit.
const littleRoom = 1 << 30

func (d *diagnosis) lookAtFileSystem(dir string) {
	system, err := fileSystemOf(dir)
	if err != nil {
		d.fault("Run this as the user of the daemon.", "the file system: %v", err)
		return
	}
	if system.doubt != "" {
		d.warn("Put it on a local disk, unless nothing has to be kept.", "it is on %s", system.doubt)
	}
	if system.free < littleRoom {
		d.warn("Make room before writes are refused: a snapshot needs as much as the state, beside the one before.", "the file system has %s left", size(system.free))
	} else {
		d.ok("the file system has %s left", size(system.free))
	}
}

func (d *diagnosis) lookAtContent(dir string) {
	if _, err := os.Stat(filepath.Join(dir, "restoring")); err == nil {
		d.fault("Restore again into it: troupe restore --data-dir "+dir+" FILE", "a restore did not finish, and the directory cannot be opened")
		return
	}
	if _, err := os.Stat(filepath.Join(dir, "format")); errors.Is(err, fs.ErrNotExist) {
		d.fault("Is this the right directory? If it is, its state is lost: restore a backup.", "it holds no state of a daemon")
		return
	}
	var report bytes.Buffer
	ok, err := persist.Verify(dir, &report, persist.Checks{})
	if err != nil {
		d.fault("Run this as the user of the daemon.", "it cannot be read: %v", err)
		return
	}
	if ok {
		d.ok("every checksum is right")
		return
	}
	const restore = "Look at the disk and its cables first. Then restore a backup; without one, 'Data loss' in docs/operations.md says how to go on with what is left."
	for line := range strings.Lines(report.String()) {
		if what, ok := strings.CutPrefix(strings.TrimSpace(line), "FAULT "); ok {
			d.fault(restore, "%s", what)
		}
	}
}

func (d *diagnosis) lookAtCertificates(dir string) {
	files, err := filepath.Glob(filepath.Join(dir, "*.crt"))
	if err != nil || len(files) == 0 {
		d.ok("no certificates of its own are kept")
		return
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			d.fault("Run this as the user of the daemon.", "%v", err)
			continue
		}
		block, _ := pem.Decode(text)
		if block == nil {
			continue // lookAtKeys reports faults of the daemon's own files
		}
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			continue
		}
		advice := "Start the daemon: it makes certificates of its own anew in time."
		if c.IsCA {
			advice = "Make the file ca.renew beside it: the daemon goes over to a new CA, and clients that get ca.crt again trust both."
		}
		d.lookAtExpiry(filepath.Base(file), c, advice)
	}
}
