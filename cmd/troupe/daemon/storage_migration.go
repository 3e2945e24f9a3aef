package daemon

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"

	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/persist"
	"github.com/troupe-api/troupe/persist/encryption"
	"github.com/troupe-api/troupe/persist/etcd"
)

// Migration copies the stored objects between a data directory and etcd, or compares them. Copied
// objects get higher resource versions, so that clients with old ones receive 410 Gone and list
// again.
type Migration struct {
	Config // configuration of the daemons on either side
	Log    *slog.Logger
}

// ToEtcd copies the data directory of a stopped daemon to an empty etcd prefix. It returns the
// number of objects.
func (m *Migration) ToEtcd(ctx context.Context) (int, error) {
	t, err := m.transformer(ctx)
	if err != nil {
		return 0, err
	}
	n := 0
	o := m.Etcd.options()
	o.Transformer, o.Logger = t, m.Log
	err = etcd.Fill(ctx, o, func() (c etcd.Content, err error) {
		c, n, err = m.content(t)
		return c, err
	})
	return n, err
}

func (m *Migration) content(t persist.Transformer) (c etcd.Content, n int, err error) {
	from, err := decrypted(readDataDir(m.DataDir, t, m.Log))
	if err != nil {
		return c, 0, err
	}
	c = etcd.Content{Labels: from.labels, Revision: from.revision, Secrets: map[string][]byte{}, Items: func(yield func(string, []byte, int) error) error {
		for _, i := range from.items {
			value, offset := unversioned(i)
			if err := yield(i.Key, value, offset); err != nil {
				return err
			}
		}
		return nil
	}}
	certDir, err := m.certDir()
	if err != nil {
		return c, 0, err
	}
	// Missing keys are errors, because the daemons on etcd must not regenerate them.
	if faults, err := checkCertificates(m.DataDir, certDir); err != nil || len(faults) > 0 {
		return c, 0, withAdvice(errors.Join(append(faults, err)...))
	}
	if keys, err := readSharedFiles(certDir); err == nil {
		c.Secrets[sharedKeysName] = keys
	} else if !errors.Is(err, fs.ErrNotExist) { // a directory that was never served has none
		return c, 0, err
	}
	return c, len(from.items), nil
}

// ToDataDir creates a data directory from the data in etcd, and returns the number of objects. The
// data must not change during the copy.
func (m *Migration) ToDataDir(ctx context.Context) (n int, err error) {
	t, err := m.transformer(ctx)
	if err != nil {
		return 0, err
	}
	err = persist.Create(m.DataDir, func() (state persist.State, err error) {
		log, err := m.openEtcd(ctx, t)
		if err != nil {
			return state, err
		}
		defer func() { err = errors.Join(err, log.Close()) }()
		keys, err := log.Secret(ctx, sharedKeysName)
		if err != nil {
			return state, err
		}
		from, err := decrypted(readEtcd(ctx, log))
		if err != nil {
			return state, err
		}
		n, state = len(from.items), from.state()
		state.Revision += persist.RevisionGap
		if keys != nil {
			state.Files = func() error {
				return writeSharedFiles(cmp.Or(m.TLS.CertDir, filepath.Join(m.DataDir, defaultCertDir)), keys, m.Log)
			}
		}
		return state, nil
	}, persist.Options{Transformer: t, Logger: m.Log})
	return n, err
}

// Check compares the objects in the data directory with those in etcd, ignoring resource versions.
// Daemons on etcd may be running. It writes up to maxDifferences differences, one per line, and
// returns the total number.
func (m *Migration) Check(ctx context.Context, w io.Writer) (objects, differences int, err error) {
	t, err := m.transformer(ctx)
	if err != nil {
		return 0, 0, err
	}
	dir, err := readDataDir(m.DataDir, t, m.Log)
	if err != nil {
		return 0, 0, err
	}
	log, err := m.openEtcd(ctx, t)
	if err != nil {
		return 0, 0, err
	}
	defer log.Close()
	there, err := readEtcd(ctx, log)
	if err != nil {
		return 0, 0, err
	}
	d := differenceWriter{w: w}
	if dir.labels[namingLabel] != there.labels[namingLabel] {
		d.line("the naming profile is %q in the data directory and %q in etcd", dir.labels[namingLabel], there.labels[namingLabel])
	}
	d.compare(dir.items, there.items)
	return len(there.items), d.n, nil
}

// BackupEtcd writes a backup of the data in etcd.
func (m *Migration) BackupEtcd(ctx context.Context, w io.Writer) (persist.Revision, error) {
	t, err := m.transformer(ctx)
	if err != nil {
		return 0, err
	}
	log, err := m.openEtcd(ctx, t)
	if err != nil {
		return 0, err
	}
	defer log.Close()
	return backupEtcd(ctx, log, t, "", w)
}

// backupEtcd creates the backup through a temporary data directory in dir, which defaults to the
// system's temporary directory.
func backupEtcd(ctx context.Context, log *etcd.Log, t persist.Transformer, dir string, w io.Writer) (revision persist.Revision, err error) {
	path, err := os.MkdirTemp(dir, "troupe-backup-")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(path)) }()
	read := func() (persist.State, error) {
		from, err := decrypted(readEtcd(ctx, log))
		return from.state(), err
	}
	if err := persist.Create(path, read, persist.Options{Transformer: t}); err != nil {
		return 0, err
	}
	return persist.BackupDir(path, w)
}

func (m *Migration) certDir() (string, error) {
	if m.TLS.CertDir != "" {
		return m.TLS.CertDir, nil
	}
	return CertDir(m.DataDir)
}

// transformer returns a transformer for encrypted values, which works until ctx ends.
func (m *Migration) transformer(ctx context.Context) (persist.Transformer, error) {
	var config *encryption.Configuration
	if m.Encryption.ConfigFile != "" {
		var err error
		if config, err = LoadAnyEncryption(m.Encryption.ConfigFile); err != nil {
			return nil, err
		}
	}
	t, err := encryption.New(config, encryption.Options{Logger: m.Log})
	if err == nil && config != nil {
		go t.Run(ctx)
	}
	return t, err
}

func (m *Migration) openEtcd(ctx context.Context, t persist.Transformer) (*etcd.Log, error) {
	o := m.Etcd.options()
	o.Transformer, o.Logger, o.MustExist = t, m.Log, true
	return etcd.Open(ctx, o)
}

type held struct {
	labels   map[string]string
	revision persist.Revision
	items    []persist.Item
}

func (h held) state() persist.State {
	return persist.State{Labels: h.labels, Revision: h.revision, Items: func(yield func(persist.Item) error) error {
		for _, i := range h.items {
			if err := yield(i); err != nil {
				return err
			}
		}
		return nil
	}}
}

// decrypted returns an error if any value could not be decrypted, because its copy would be
// unreadable too.
func decrypted(h held, err error) (held, error) {
	for _, i := range h.items {
		if i.Err != nil && err == nil {
			err = fmt.Errorf("reading %s: %w; check the keys of --encryption-provider-config", i.Key, i.Err)
		}
	}
	return h, err
}

func readDataDir(dir string, t persist.Transformer, log *slog.Logger) (h held, err error) {
	holds, err := persist.HoldsState(dir)
	if err != nil {
		return h, err
	}
	if !holds {
		return h, fmt.Errorf("%s is not a data directory with a state", dir)
	}
	j, err := persist.Open(dir, persist.Options{Transformer: t, Logger: log})
	if err != nil {
		return h, withAdvice(err)
	}
	defer func() { err = errors.Join(err, j.Close()) }()
	items, base := map[string]persist.Item{}, persist.Revision(0)
	h.revision, err = j.Recover(persist.Recovery{
		Item: func(i persist.Item) error { items[i.Key] = i; return nil },
		Base: func(r persist.Revision) error { base = r; return nil },
		Commit: func(c persist.Commit) error {
			switch {
			case c.Revision <= base: // contained in the items
			case c.Delete:
				delete(items, c.Key)
			default:
				items[c.Key] = persist.Item{Key: c.Key, Value: c.Value, Revision: c.Revision, Err: c.Err}
			}
			return nil
		},
	})
	if err != nil {
		return h, err
	}
	for _, i := range items {
		h.items = append(h.items, i)
	}
	slices.SortFunc(h.items, func(a, b persist.Item) int { return cmp.Compare(a.Key, b.Key) })
	h.labels = map[string]string{}
	if naming, ok := j.Label(namingLabel); ok {
		h.labels[namingLabel] = naming
	}
	return h, nil
}

func readEtcd(ctx context.Context, log *etcd.Log) (h held, err error) {
	if h.labels, err = log.Labels(ctx); err != nil {
		return h, err
	}
	h.revision, err = log.Export(ctx, func(i persist.Item) error {
		h.items = append(h.items, i)
		return nil
	})
	return h, err
}

// unversioned returns an object's value without its resource version, and the version's offset.
func unversioned(i persist.Item) (value []byte, offset int) {
	if !bytes.Contains(i.Value, fmt.Appendf(nil, `"resourceVersion":"%d"`, i.Revision)) {
		return i.Value, -1
	}
	e := codec.WithoutVersion(i.Value)
	if string(e.WithVersion(uint64(i.Revision))) != string(i.Value) { // the match is not the object's metadata
		return i.Value, -1
	}
	return e.JSON, e.VersionOffset
}

type differenceWriter struct {
	w io.Writer
	n int
}

// maxDifferences limits the written differences. Further ones are only counted.
const maxDifferences = 20

func (d *differenceWriter) line(format string, a ...any) {
	if d.n++; d.n <= maxDifferences {
		fmt.Fprintf(d.w, format+"\n", a...)
	}
}

func (d *differenceWriter) compare(dir, there []persist.Item) {
	for len(dir) > 0 || len(there) > 0 {
		switch {
		case len(there) == 0 || len(dir) > 0 && dir[0].Key < there[0].Key:
			d.line("%s is only in the data directory", dir[0].Key)
			dir = dir[1:]
		case len(dir) == 0 || there[0].Key < dir[0].Key:
			d.line("%s is only in etcd", there[0].Key)
			there = there[1:]
		default:
			d.compareItem(dir[0], there[0])
			dir, there = dir[1:], there[1:]
		}
	}
}

func (d *differenceWriter) compareItem(dir, there persist.Item) {
	if err := errors.Join(dir.Err, there.Err); err != nil {
		d.line("%s is unreadable: %v", dir.Key, err)
		return
	}
	a, _ := unversioned(dir)
	b, _ := unversioned(there)
	if !bytes.Equal(a, b) {
		at := 0
		for at < len(a) && at < len(b) && a[at] == b[at] {
			at++
		}
		d.line("%s differs at byte %d", dir.Key, at)
	}
}
