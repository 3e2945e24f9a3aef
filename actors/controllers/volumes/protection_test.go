package volumes

import (
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

func TestPodUsesClaim(t *testing.T) {
	t.Parallel()
	claim := &meta.Object{Key: meta.Key{Name: "p-v"}, Meta: meta.ObjectMeta{OwnerReferences: []meta.OwnerReference{{UID: "u", Controller: true}}}}
	for _, c := range []struct {
		metadata, volume tree.Tree
		want             bool
	}{
		{tree.Tree{"uid": "u"}, tree.Tree{"ephemeral": tree.Tree{}}, true},
		{tree.Tree{"uid": "another"}, tree.Tree{"ephemeral": tree.Tree{}}, false},
		{tree.Tree{"uid": "u", "deletionTimestamp": "t", "deletionGracePeriodSeconds": int64(30)}, tree.Tree{"ephemeral": tree.Tree{}}, true},
		{tree.Tree{"uid": "u", "deletionTimestamp": "t", "deletionGracePeriodSeconds": int64(0)}, tree.Tree{"ephemeral": tree.Tree{}}, false},
		{tree.Tree{"uid": "u", "deletionTimestamp": "t", "deletionGracePeriodSeconds": int64(0)}, tree.Tree{"persistentVolumeClaim": tree.Tree{"claimName": "p-v"}}, true},
		{tree.Tree{"uid": "u"}, tree.Tree{"persistentVolumeClaim": tree.Tree{"claimName": "other"}}, false},
	} {
		c.metadata["name"], c.volume["name"] = "p", "v"
		if got := podUsesClaim(tree.Tree{"metadata": c.metadata, "spec": tree.Tree{"volumes": []any{c.volume}}}, claim); got != c.want {
			t.Errorf("%v %v: %v", c.metadata, c.volume, got)
		}
	}
}
