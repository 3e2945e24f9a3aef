package etcd

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/persist/etcd/etcdtest"
)

// TestForeignKeys checks that other programs' keys below the prefix neither end a log nor block a
// caller. Running, new and copied logs must agree on the state and report unreadable values.
func TestForeignKeys(t *testing.T) {
	t.Parallel()
	cluster := etcdtest.Start(t, 1)
	o := Options{Endpoints: cluster.URLs(), CopyDir: t.TempDir()}
	a := open(t, o)
	same(t, "before", a.append(create("/c/n/a", "1"), create("/c/n/b", "1")), "ok, ok")
	k, client := a.keys, cluster.Client()
	values := map[string]string{
		"/c/n/empty": "", "/c/n/short": "\x01", "/c/n/json": `{"kind":"ConfigMap"}`, "/c/n/format": "\x07\x00\x00x", "/c/n/whole": "\x01\x7f\x00x",
		"/c/n/beyond": "\x01\x00\xff\xff\x7fx", "/c/n/far": "\x01\x00\xff\xff\xff\xff\xff\xff\xff\xff\xffx", "/c/n/a": "\x01\x00\x40x",
		"alone": "\x01\x00\x00x", "one/slash": "\x01\x00\x00x", "///": "\x01\x00\x00x", "\xff\xfe/\x00/x/y": "\x01\x00\x00x", "/c/n/" + strings.Repeat("k", 10_000): "\x01\x00\x00x",
	}
	for key, value := range values {
		must.Get(client.Put(context.Background(), k.object(key), value))(t)
	}
	for key, value := range map[string]string{
		k.objects(): "x", k.claims() + "lost": "/s/none", k.claims(): "x", k.guards(): "x", k.guard("\xff"): "x", k.records() + "x": "\x01\x02", k.records(): "x",
		k.copies() + "\x00": "x", k.compaction(): "no number", k.all() + "zzz": "x", k.all(): "x", k.record(a.writer): "garbage",
	} {
		must.Get(client.Put(context.Background(), key, value))(t)
	}
	must.Get(client.Delete(context.Background(), k.object("/c/n/b")))(t)
	a.await()
	same(t, "a write afterwards", a.append(create("/c/n/new", "1")), "ok")
	same(t, "over what is not to be read", a.append(put("/c/n/beyond", "1", at("/c/n/beyond", a.revision("/c/n/beyond")))), "ok")
	unreadable := func(m *member) string {
		var n int
		for _, c := range m.state {
			if c.Err != nil {
				n++
			}
		}
		return fmt.Sprint(n, " of ", len(m.state))
	}
	same(t, "unreadable", unreadable(a), "7 of 14")
	plain := o
	plain.CopyDir = ""
	same(t, "one that begins later", open(t, plain).text(), a.text())
	must.Succeed(t, a.snapshot())
	b := open(t, o)
	same(t, "one that begins from the copy", b.text(), a.text())
	if b.stats.keysRead.Load() == 0 {
		t.Error("it has not looked for what the copy cannot hold")
	}
	b.o.CompactionInterval = 1
	eventually(t, "a compaction", func() bool {
		must.Succeed(t, b.Trim(b.upTo))
		return b.compacted.Load() > 0
	})
	same(t, "a write after a compaction", b.append(create("/c/n/newer", "1")), "ok")
}
