package persist

import (
	"testing"

	"github.com/troupe-api/troupe/persist/vfs"
)

func TestLabels(t *testing.T) {
	fs := vfs.NewMem()
	j, _ := mustReopen(t, testOptions(fs))
	if _, ok := j.Label("naming"); ok {
		t.Error("a label out of nowhere")
	}
	for _, v := range []string{"platform", "other"} {
		if err := j.SetLabel("naming", v); err != nil {
			t.Fatal(err)
		}
	}
	j, err := Open(testDir, testOptions(fs.Crash(nil)))
	if err != nil {
		t.Fatal(err)
	}
	if v, ok := j.Label("naming"); v != "other" || !ok {
		t.Errorf("after a crash the label is %q", v)
	}
	mustClose(t, j)
}
