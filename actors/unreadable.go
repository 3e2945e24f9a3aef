package actors

import (
	"strconv"

	"github.com/troupe-api/troupe/actors/mutation"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// An object that cannot be decoded can still be deleted. A deletion normally records the object's
// last state. If the metadata is also unreadable, that state contains only the name, both in the
// log and in watch events.

const quarantinedText = "the stored object cannot be read and is quarantined; it can only be deleted"

func (o *object) prepareUnreadable(m *request.Mutation, object *meta.Object) (mutation.Prepared, error) {
	if err := checkUnreadable(m, object.Version); err != nil {
		return mutation.Prepared{}, err
	}
	return mutation.PrepareUnreadable(m, nameOnlyTree(m.Key), mutation.Candidate{
		Op: mutation.Remove, Tree: nameOnlyTree(m.Key), Encoded: codec.WithoutVersion(object.JSON), Head: object.Meta,
	}), nil
}

func nameOnlyTree(key meta.Key) tree.Tree {
	metadata := tree.Tree{"name": key.Name}
	if key.Namespace != "" {
		metadata["namespace"] = key.Namespace
	}
	return tree.Tree{"metadata": metadata}
}

func nameOnlyObject(k *schema.Kind, key meta.Key, version uint64) *meta.Object {
	tree := nameOnlyTree(key)
	return &meta.Object{Key: key, Version: version, JSON: codec.EncodeJSON(k, tree).WithVersion(version), ItemOffset: k.ItemOffset(), Meta: codec.ExtractMeta(k, tree)}
}

// checkUnreadable rejects every change to an object that cannot be decoded, except its deletion.
func checkUnreadable(m *request.Mutation, version uint64) error {
	gr := m.Kind.GroupResource()
	switch d, isDelete := m.Change.(request.Delete); {
	case request.Is[request.Create](m) && m.Subresource == "":
		taken := meta.NewAlreadyExists(gr, m.Key.Name)
		taken.Message += ": " + quarantinedText
		return taken
	case !isDelete:
		return meta.NewStoreReadError(gr, m.Key.Name, quarantinedText)
	case d.UID != nil || d.ResourceVersion != nil && *d.ResourceVersion != strconv.FormatUint(version, 10):
		return meta.NewConflict(gr, m.Key.Name, "the precondition cannot be checked: "+quarantinedText)
	}
	return nil
}
