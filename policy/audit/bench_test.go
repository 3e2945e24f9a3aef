package audit_test

import (
	"io"
	"net/netip"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/persist/etcd/etcdtest/processes"
	"github.com/troupe-api/troupe/policy/audit"
	"github.com/troupe-api/troupe/policy/authz"
)

func manyRules(level string) string {
	rule := "- {level: None, users: [a, b], verbs: [watch], resources: [{group: apps, resources: [x, y/z, w/*]}]}\n"
	return "omitStages: [RequestReceived]\nrules:\n" + strings.Repeat(rule, 19) + "- {level: " + level + "}\n"
}

func BenchmarkRequest(b *testing.B) {
	doc := []byte(`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","managedFields":[{"manager":"m"}]},"data":{"k":"` + strings.Repeat("x", 1024) + `"}}`)
	for _, test := range []struct{ name, policy, mode, to string }{
		{"none", "rules: [{level: None}]", "blocking", ""},
		{"metadata", onlyComplete, "blocking", ""},
		{"metadata both stages", "rules: [{level: Metadata}]", "blocking", ""},
		{"metadata 20 rules", manyRules("Metadata"), "blocking", ""},
		{"request", manyRules("Request"), "blocking", ""},
		{"response", manyRules("RequestResponse"), "blocking", ""},
		{"metadata file", onlyComplete, "blocking", "file"},
		{"metadata file batch", onlyComplete, "batch", "file"},
	} {
		b.Run(test.name, func(b *testing.B) {
			to := io.Discard
			if test.to != "" {
				f, err := audit.OpenFile(audit.FileOptions{Path: filepath.Join(b.TempDir(), "audit.log"), Now: time.Now})
				if err != nil {
					b.Fatal(err)
				}
				to = f
			}
			u := audit.New(mustParse(b, test.policy), meta.Platform, time.Now, audit.NewLog(to, audit.SinkOptions{
				Mode: audit.Mode(test.mode), Logger: discardLogger(), Batch: audit.BatchOptions{BufferSize: 10000, MaxSize: 400, MaxWait: 100 * time.Millisecond},
			}))
			a := request("", nil, "create :configmaps default/")
			a.User, a.Version = jane, "v1"
			b.ReportAllocs()
			before, n := cpuTime(b), 0
			for ; b.Loop(); n++ {
				recordOne(u, &a, doc)
			}
			b.ReportMetric(float64((cpuTime(b)-before).Nanoseconds())/1e3/float64(n), "µs-cpu/op")
			if err := u.Close(b.Context()); err != nil {
				b.Fatal(err)
			}
		})
	}
}

func recordOne(u *audit.Auditor, a *authz.Attributes, doc []byte) {
	r := u.Begin(a, time.Now())
	if r == nil {
		return
	}
	r.ID, r.URI, r.UserAgent = "0b1d9c52-5a5d-4a39-8a3e-0f7f6f2a3a11", "/api/v1/namespaces/default/configmaps?fieldManager=bench", "kubectl/v1.35.0 (linux/amd64)"
	r.SourceIPs = append(r.SourceIPs, netip.AddrFrom4([4]byte{10, 0, 0, 1}))
	r.EmitStage(audit.RequestReceived, 0)
	r.SetDecision(authz.Allow, `RBAC: allowed by ClusterRoleBinding "x" of ClusterRole "y" to Group "z"`)
	r.SetRequest(doc, false)
	r.SetResponse(len(doc), func() []byte { return doc })
	r.EmitStage(audit.ResponseComplete, 201)
	r.Release()
}

func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	used, err := processes.CPUTime()
	if err != nil {
		b.Fatal(err)
	}
	return used
}
