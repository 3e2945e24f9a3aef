package cluster

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"hash/fnv"
	"maps"
	"strconv"
	"strings"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/selector"
	"github.com/troupe-api/troupe/kinds/tree"
)

// PodOf returns a Pod from a template, with an owner and a generateName. It copies only the labels,
// annotations and finalizers of the template's metadata. The caller may modify the result.
func PodOf(i *reconcile.Item, template tree.Tree) tree.Tree {
	of := template.Object("metadata")
	metadata := tree.Tree{"namespace": i.Key.Namespace, "generateName": namePrefix(i.Key.Name), "ownerReferences": []any{i.ControllerReference()}}
	for _, field := range []string{"labels", "annotations", "finalizers"} {
		if v := of[field]; !tree.IsEmpty(v) {
			metadata[field] = tree.Clone(v)
		}
	}
	return tree.Tree{"metadata": metadata, "spec": tree.Clone(template.Object("spec"))}
}

// namePrefix appends a dash to name, except after a dot, where it would be invalid.
func namePrefix(name string) string {
	if strings.HasSuffix(name, ".") {
		return name
	}
	return name + "-"
}

var errNoLabels = errors.New("unable to create pods, no labels")

// errNotSelected means that an object's selector does not match its own Pods, so the object would
// create Pods forever. Such an object may predate selector validation.
var errNotSelected = errors.New("unable to create pods, the selector does not match the labels of the template")

// CheckSelected returns an error if an object's selector does not match a Pod to be created for it.
func CheckSelected(i *reconcile.Item, pod tree.Tree) error {
	if !i.Selects(selector.LabelsOf(pod.Labels())) {
		return errNotSelected
	}
	return nil
}

// CreatePod creates a Pod and records an Event. A terminating namespace also rejects Events, so
// CreatePod records none there.
func (c *Cluster) CreatePod(ctx context.Context, r reconcile.Reporter, i *reconcile.Item, pod tree.Tree) error {
	if len(pod.Labels()) == 0 {
		return errNoLabels
	}
	var o *meta.Object
	err := CheckSelected(i, pod)
	if err == nil {
		o, err = c.Pods.Create(ctx, pod)
	}
	switch {
	case reconcile.IsNamespaceTerminating(err):
		return err
	case err != nil:
		if ctx.Err() == nil {
			r.Warn("FailedCreate", "Error creating: %v", err)
		}
		return err
	}
	r.Normal("SuccessfulCreate", "Created pod: %s", o.Key.Name)
	return nil
}

// DeletePod deletes a Pod and records an Event. If the Pod does not exist, it only returns nil.
func (c *Cluster) DeletePod(ctx context.Context, r reconcile.Reporter, pod *Pod) error {
	_, err := c.Pods.Mutate(ctx, request.Mutation{Key: pod.Key, Change: request.Delete{UID: &pod.UID}})
	switch {
	case reconcile.IsNotFound(err):
		return nil
	case err != nil:
		if ctx.Err() == nil {
			r.Warn("FailedDelete", "Error deleting: %v", err)
		}
		return err
	}
	r.Normal("SuccessfulDelete", "Deleted pod: %s", pod.Key.Name)
	return nil
}

// Hash returns the 32-bit FNV-1a hash of the canonical JSON of v and of the collision count. It is
// used only to name new objects. Existing objects are found by comparing templates.
func Hash(v any, collisions *int64) string {
	h := fnv.New32a()
	text, err := json.Marshal(v) // field names are sorted
	if err != nil {
		panic(err) // a decoded object can always be encoded
	}
	h.Write(text)
	if collisions != nil {
		var count [8]byte
		binary.LittleEndian.PutUint32(count[:], uint32(*collisions))
		h.Write(count[:])
	}
	return SafeEncode(strconv.FormatUint(uint64(h.Sum32()), 10))
}

// nameLetters are the characters of hashes. They exclude vowels and digits that resemble vowels, to
// avoid words.
const nameLetters = "bcdfghjklmnpqrstvwxz2456789"

// SafeEncode maps each byte of a string to one of nameLetters. It maps different digits to
// different letters.
func SafeEncode(s string) string {
	b := []byte(s)
	for i := range b {
		b[i] = nameLetters[int(b[i])%len(nameLetters)]
	}
	return string(b)
}

// EqualTemplates reports whether two templates create equal Pods. It ignores the given labels,
// which the controller adds.
func EqualTemplates(a, b tree.Tree, ignoredLabels ...string) bool {
	return tree.StoredEqual(withoutLabels(a, ignoredLabels), withoutLabels(b, ignoredLabels))
}

func withoutLabels(template tree.Tree, labels []string) tree.Tree {
	all := template.Labels()
	kept := tree.Tree{}
	maps.Copy(kept, all)
	for _, key := range labels {
		delete(kept, key)
	}
	metadata := tree.CopyOnWrite{From: template.Object("metadata")}
	if metadata.From == nil {
		metadata.From = tree.Tree{}
	}
	metadata.Set("labels", kept)
	metadata.Drop("creationTimestamp")
	result := tree.CopyOnWrite{From: template}
	result.Set("metadata", metadata.Result())
	return result.Result()
}

// Scaled returns an integer unchanged, and a percentage as a share of total, rounded up or down.
// Other values count as 0.
func Scaled(v any, total int64, up bool) int64 {
	switch v := v.(type) {
	case int64:
		return v
	case string:
		percent, err := strconv.ParseInt(strings.TrimSuffix(v, "%"), 10, 32)
		if err != nil || !strings.HasSuffix(v, "%") {
			return 0
		}
		if up {
			return (percent*total + 99) / 100
		}
		return percent * total / 100
	}
	return 0
}
