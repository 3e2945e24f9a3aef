package policy_test

import (
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/admission/podsecurity"
)

func compliant() tree.Tree {
	security := tree.Tree{
		"allowPrivilegeEscalation": false, "runAsNonRoot": true, "capabilities": tree.Tree{"drop": []any{"ALL"}},
		"seccompProfile": tree.Tree{"type": "RuntimeDefault"},
	}
	container := tree.Tree{"name": "c", "image": "i", "securityContext": security, "ports": []any{tree.Tree{"containerPort": int64(80)}}}
	volume := tree.Tree{"name": "v", "secret": tree.Tree{"secretName": "s"}}
	return tree.Tree{"spec": tree.Tree{"containers": []any{container, container}, "volumes": []any{volume}}}
}

func BenchmarkEvaluate(b *testing.B) {
	e, pod := podsecurity.NewEvaluator(meta.Platform), compliant()
	lv := podsecurity.LevelVersion{Level: podsecurity.Restricted}
	b.ReportAllocs()
	for b.Loop() {
		if found := e.Evaluate(lv, pod); len(found) > 0 {
			b.Fatal(found)
		}
	}
}
