package actors

import (
	"github.com/troupe-api/troupe/actors/mutation"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/persist"
)

// proposal is one accepted mutation between its object's owner and its landing in the
// collection. Its outcome is written once, before done is closed; who waits reads it
// afterwards.
type proposal struct {
	collection *collection
	kind       *schema.Kind // stored, by which the candidate was made
	candidate  mutation.Candidate
	key        meta.Key
	// base is the flight that the candidate was computed on, if that had not landed.
	base *proposal
	// baseVersion is the version that the candidate was computed on; 0 for a creation. It is
	// not set while base is.
	baseVersion uint64
	write       persist.Write
	done        chan struct{}
	object      *meta.Object // the outcome: the committed state,
	err         error        // or why there is none
}

// size is about how many bytes the log will write.
func (f *proposal) size() int { return len(f.write.Key) + len(f.write.Value) + len(f.write.Metadata) }

// pendingObject is the state on its way as an object without a version.
func (f *proposal) pendingObject() *meta.Object {
	return &meta.Object{Key: f.key, JSON: f.candidate.Encoded.JSON, ItemOffset: f.kind.ItemOffset, Meta: f.candidate.Head}
}

// committedObject is the state that was stored, with the key and the head in memory of its own.
func (f *proposal) committedObject(commit *persist.Commit) *meta.Object {
	key, err := meta.ParseKey(commit.Key)
	if err != nil {
		panic(err)
	}
	o := &meta.Object{
		Key: key, Version: uint64(commit.Revision), JSON: commit.Value,
		ItemOffset: f.kind.ItemOffset, Meta: f.candidate.Head.Clone(),
	}
	if f.candidate.Op == mutation.Put {
		markSchemaID(f.kind, o)
	}
	return o
}

// markSchemaID says that an object was written in the form of a stored kind.
func markSchemaID(k *schema.Kind, o *meta.Object) {
	if k.Custom() {
		o.SetConformsTo(k.Message.Custom.SchemaID)
	}
}

// markApplied says that the flight's change is published.
func (f *proposal) markApplied(o *meta.Object) {
	f.candidate.Allocation.Commit()
	f.object = o
	f.resolve()
}

// resolve lets go of the flights before, and of those who wait.
func (f *proposal) resolve() {
	f.base = nil
	close(f.done)
}

// abort says that the flight's change was not committed.
func (f *proposal) abort(err error) {
	f.candidate.Allocation.Release()
	f.err = err
	f.resolve()
}

// resolved says whether the outcome is there.
func (f *proposal) resolved() bool {
	select {
	case <-f.done:
		return true
	default:
		return false
	}
}

// result is what the writer gets.
func (f *proposal) result() request.Result {
	return request.Result{
		Object: f.object, Created: f.candidate.Created, Deleted: f.candidate.Op == mutation.Remove, Warnings: f.candidate.Warnings,
	}
}

// reject aborts a proposal that the committer does not take.
func (f *proposal) reject(err error) { f.abort(err) }
