package daemon

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/persist"
	"github.com/troupe-api/troupe/persist/etcd"
)

// Etcd configures etcd as the storage, which several daemons may share. Settings that
// kube-apiserver also has have the same names and defaults.
type Etcd struct {
	Servers  []string `flag:"etcd-servers"` // none keeps the state in the data directory
	CAFile   string   `flag:"etcd-cafile"`
	CertFile string   `flag:"etcd-certfile"`
	KeyFile  string   `flag:"etcd-keyfile"`
	Prefix   string   `flag:"etcd-prefix"`
	// CompactionInterval is the interval at which one of the daemons compacts etcd, or 0 for never.
	CompactionInterval Duration `flag:"etcd-compaction-interval"`
	HealthCheckTimeout Duration `flag:"etcd-healthcheck-timeout"`
	WriteTimeout       Duration `flag:"etcd-write-timeout"`
	// LocalCopy keeps a copy of the data in the data directory, which speeds up startup.
	LocalCopy bool `flag:"etcd-local-copy"`
}

func (e Etcd) options() etcd.Options {
	compaction := cmp.Or(time.Duration(e.CompactionInterval), -1)
	return etcd.Options{
		Endpoints: e.Servers, CAFile: e.CAFile, CertFile: e.CertFile, KeyFile: e.KeyFile, Prefix: e.Prefix,
		CompactionInterval: compaction, HealthCheckTimeout: time.Duration(e.HealthCheckTimeout), WriteTimeout: time.Duration(e.WriteTimeout),
	}
}

func (e Etcd) used() bool { return len(e.Servers) > 0 }

func (e Etcd) validate(f *faults, c Config) {
	if !e.used() {
		f.check(e.CAFile+e.CertFile+e.KeyFile == "", "etcd-servers", "is required with etcd certificates")
		return
	}
	f.checkError("etcd-servers", e.options().Validate())
	f.check(!c.Ephemeral, "ephemeral", "cannot be combined with --etcd-servers")
	f.check(!c.AcceptDataLoss, "accept-data-loss", "applies to a data directory, but the state is in etcd (--etcd-servers)")
}

const localCopyDir = "etcd"

// openEtcd connects to etcd and checks the naming profile of its data.
func (l *stateLog) openEtcd() (err error) {
	held, err := persist.HoldsState(l.config.DataDir)
	if err != nil {
		return err
	}
	if held {
		return fmt.Errorf("%s already has a state, which --etcd-servers would not serve: choose another --data-dir, or copy it with troupe migrate --from %[1]s --to etcd", l.config.DataDir)
	}
	o := l.config.Etcd.options()
	o.Transformer, o.Logger, o.Fatal = l.encryption.transformer, l.log, l.fatal.report
	copies := persist.LocalCopy{Dir: filepath.Join(l.config.DataDir, localCopyDir)}
	if l.config.Etcd.LocalCopy {
		o.CopyDir = copies.Dir
	} else if err := copies.Remove(); err != nil {
		return fmt.Errorf("removing the local copy (--etcd-local-copy=false): %w", err)
	}
	if l.etcd, err = etcd.Open(context.Background(), o); err != nil {
		return err
	}
	return checkEtcdNaming(l.etcd, l.config.Etcd, l.naming)
}

func checkEtcdNaming(l *etcd.Log, e Etcd, naming *meta.Naming) error {
	recorded, err := l.EnsureLabel(context.Background(), namingLabel, naming.Profile)
	if err == nil && recorded != naming.Profile {
		err = fmt.Errorf("the state in etcd below %s has the naming profile %s, not %s: use --naming %s, or another --etcd-prefix",
			e.Prefix, recorded, naming.Profile, recorded)
	}
	return err
}
