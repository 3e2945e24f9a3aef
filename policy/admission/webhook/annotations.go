package webhook

import (
	"fmt"

	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/policy/webhookclient"
)

// Prefixes of audit annotation keys, as in Kubernetes. The round and index of a call make the keys
// unique within an audit event.
const (
	mutationAnnotation   = "mutation.webhook.admission"
	patchAnnotation      = "patch.webhook.admission"
	validatingAnnotation = "validating.webhook.admission"
	failedOpen           = "failed-open."
)

func (p *Plugin) annotationKey(prefix string, round, n int) string {
	return fmt.Sprintf("%s/round_%d_index_%d", p.options.Naming.Group(prefix), round, n)
}

func (p *Plugin) annotateMutation(a *request.Attributes, h *hook, round int, changed bool) {
	a.Annotate(p.annotationKey(mutationAnnotation, round, h.index), fmt.Sprintf(`{"configuration":%s,"webhook":%s,"mutated":%t}`,
		codec.AppendAny(nil, h.configuration), codec.AppendAny(nil, h.name), changed))
}

// annotatePatch records a patch only at audit levels that include bodies, because it may contain
// object data.
func (p *Plugin) annotatePatch(a *request.Attributes, h *hook, round int, patch []any) {
	a.AnnotateDetail(p.annotationKey(patchAnnotation, round, h.index), fmt.Sprintf(`{"configuration":%s,"webhook":%s,"patch":%s,"patchType":"%s"}`,
		codec.AppendAny(nil, h.configuration), codec.AppendAny(nil, h.name), codec.AppendAny(nil, patch), jsonPatch))
}

func (p *Plugin) annotateFailedOpen(a *request.Attributes, h *hook, round, n int) {
	prefix := mutationAnnotation
	if h.sort == validating {
		prefix = validatingAnnotation
	}
	a.Annotate(failedOpen+p.annotationKey(prefix, round, n), h.name)
}

func (p *Plugin) record(h *hook, a *request.Attributes, said *answer) {
	for _, key := range said.annotations.SortedKeys() {
		full := h.name + "/" + key
		if value, ok := said.annotations[key].(string); ok && len(rules.QualifiedName(full)) == 0 && !a.Annotate(full, value) {
			p.options.Log.Warn("audit annotation of a webhook conflicts with an existing value", "webhook", h.name, "annotation", full, "value", webhookclient.Truncate(value))
		}
	}
	a.Warn(said.warnings...)
}
