package persist

import (
	"testing"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/persist/vfs"
)

func TestLabels(t *testing.T) {
	fs := vfs.NewMem()
	j, _ := mustReopen(t, testOptions(fs))
	if _, ok := j.Label("naming"); ok {
		t.Error("a label out of nowhere")
	}
	for _, v := range []string{"platform", "other"} {
		must.Succeed(t, j.SetLabel("naming", v))
	}
	j = must.Get(Open(testDir, testOptions(fs.Crash(nil))))(t)
	if v, ok := j.Label("naming"); v != "other" || !ok {
		t.Errorf("after a crash the label is %q", v)
	}
	mustClose(t, j)
}
