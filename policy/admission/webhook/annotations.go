package webhook

import (
	"fmt"

	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/policy/webhookclient"
)

// The beginnings of the keys of audit annotations, as groups of the naming profile. The keys are those that
// audit tools know; round and index make them unique within an event.
const (
	mutationAnnotation   = "mutation.webhook.admission"
	patchAnnotation      = "patch.webhook.admission"
	validatingAnnotation = "validating.webhook.admission"
	failedOpen           = "failed-open."
)

// annotationKey names what has become of the n-th hook in a round.
func (p *Plugin) annotationKey(prefix string, round, n int) string {
	return fmt.Sprintf("%s/round_%d_index_%d", p.options.Naming.Group(prefix), round, n)
}

// annotateMutation says whether a hook has changed the object.
func (p *Plugin) annotateMutation(a *request.Attributes, h *hook, round int, changed bool) {
	a.Annotate(p.annotationKey(mutationAnnotation, round, h.index), fmt.Sprintf(`{"configuration":%s,"webhook":%s,"mutated":%t}`,
		codec.AppendAny(nil, h.configuration), codec.AppendAny(nil, h.name), changed))
}

// annotatePatch says how a hook has changed the object. It is a detail, recorded only at the audit levels
// that include bodies: a patch may hold what the object does.
func (p *Plugin) annotatePatch(a *request.Attributes, h *hook, round int, patch []any) {
	a.AnnotateDetail(p.annotationKey(patchAnnotation, round, h.index), fmt.Sprintf(`{"configuration":%s,"webhook":%s,"patch":%s,"patchType":"%s"}`,
		codec.AppendAny(nil, h.configuration), codec.AppendAny(nil, h.name), codec.AppendAny(nil, patch), jsonPatch))
}

// annotateFailedOpen says that a hook could not be asked, which its failurePolicy lets pass.
func (p *Plugin) annotateFailedOpen(a *request.Attributes, h *hook, round, n int) {
	prefix := mutationAnnotation
	if h.sort == validating {
		prefix = validatingAnnotation
	}
	a.Annotate(failedOpen+p.annotationKey(prefix, round, n), h.name)
}

// record takes over what a hook wants to be said of a change. A hook that is asked again cannot take back what it
// has said before.
func (p *Plugin) record(h *hook, a *request.Attributes, said *answer) {
	for _, key := range said.annotations.SortedKeys() {
		full := h.name + "/" + key
		if value, ok := said.annotations[key].(string); ok && len(rules.QualifiedName(full)) == 0 && !a.Annotate(full, value) {
			p.options.Log.Warn("an audit annotation of a webhook has another value already", "webhook", h.name, "annotation", full, "value", webhookclient.Truncate(value))
		}
	}
	a.Warn(said.warnings...)
}
