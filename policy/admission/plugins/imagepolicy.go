package plugins

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"log/slog"
	"strings"
	"time"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/admission"
	"github.com/troupe-api/troupe/policy/authn"
	"github.com/troupe-api/troupe/policy/remote"
	"github.com/troupe-api/troupe/policy/webhookclient"
)

const (
	imageReviewTimeout = 30 * time.Second // for one review with all retries
	maxImageReviews    = 1024             // cached responses
	maxImageReviewKept = 16 << 10         // maximum size of a cached response in bytes
)

const imageReviewKind = "ImageReview"

// ImagePolicyWebhook returns the plugin that lets a backend decide whether a Pod's images may run.
// It runs at stage MayBlock, outside the object's activation. config must be a valid imagePolicy.
func ImagePolicyWebhook(config tree.Tree, backend *remote.Client, naming *meta.Naming, now func() time.Time, log *slog.Logger) admission.Registration {
	keyPart := "." + naming.Group("image-policy") + "/"
	p := &imagePolicy{
		config: config, backend: backend, now: now, log: log, answers: authn.NewCache[imageReviewStatus](maxImageReviews, now),
		apiVersion: naming.Group("imagepolicy") + "/v1alpha1", keyPart: keyPart, auditKey: "imagepolicywebhook" + keyPart,
	}
	return admission.Register("ImagePolicyWebhook", p)
}

// imagePolicy caches responses, because Pods from one template cause identical reviews.
type imagePolicy struct {
	request.HandlesAll
	config  tree.Tree
	backend *remote.Client
	now     func() time.Time
	log     *slog.Logger
	answers *authn.Cache[imageReviewStatus] // by digest of the request

	apiVersion string
	keyPart    string // infix of annotations that are sent to the backend
	auditKey   string // prefix of audit annotation keys
}

type imageReviewStatus struct {
	Allowed          bool              `json:"allowed"`
	Reason           string            `json:"reason"`
	AuditAnnotations map[string]string `json:"auditAnnotations"`
}

func (p *imagePolicy) Validate(a *request.Attributes) error {
	ctx := a.Context
	body, err := json.Marshal(tree.Tree{"apiVersion": p.apiVersion, "kind": imageReviewKind, "spec": p.question(a)})
	if err != nil {
		return a.Forbidden(err.Error())
	}
	said, err := p.ask(ctx, body)
	if err != nil {
		p.log.WarnContext(ctx, "the image policy backend did not respond", "error", err, "allowed", p.config.Bool("defaultAllow"))
		if p.config.Bool("defaultAllow") {
			a.Annotate(p.auditKey+"failed-open", "true")
			return nil
		}
		return a.Forbidden(webhookclient.Truncate(err.Error()))
	}
	for key, value := range said.AuditAnnotations {
		a.Annotate(p.auditKey+key, value)
	}
	switch {
	case said.Allowed:
		return nil
	case said.Reason != "":
		return a.Forbidden("image policy webhook backend denied one or more images: " + webhookclient.Truncate(said.Reason))
	}
	return a.Forbidden("one or more images rejected by webhook backend")
}

// question returns the spec of the ImageReview. The spec lists the images of the containers that
// the request may set, and the Pod annotations meant for the backend.
func (p *imagePolicy) question(a *request.Attributes) tree.Tree {
	q := tree.Tree{"namespace": a.Key.Namespace}
	lists := []string{"containers", "initContainers"}
	if a.Subresource == "ephemeralcontainers" {
		lists = ephemeralContainers
	}
	for _, c := range containers(a.New.Object("spec"), lists...) {
		q["containers"] = append(q.List("containers"), tree.Tree{"image": c.String("image")})
	}
	for key, value := range a.New.Annotations() {
		if text, ok := value.(string); ok && strings.Contains(key, p.keyPart) {
			q.EnsureObject("annotations")[key] = text
		}
	}
	return q
}

func (p *imagePolicy) ask(ctx context.Context, body []byte) (imageReviewStatus, error) {
	digest := authn.Digest(sha256.Sum256(body))
	if kept, ok := p.answers.Get(digest); ok {
		return kept, nil
	}
	ctx, cancel := context.WithTimeout(ctx, imageReviewTimeout)
	defer cancel()
	backoff := remote.DefaultBackoff
	backoff.Duration = p.period("retryBackoff", time.Millisecond)
	text, err := p.backend.PostWithRetry(ctx, body, backoff)
	if err != nil {
		return imageReviewStatus{}, err
	}
	said, err := remote.ReadReview[imageReviewStatus](text, p.apiVersion, imageReviewKind)
	if err != nil {
		return said, err
	}
	ttl := p.period("denyTTL", time.Second)
	if said.Allowed {
		ttl = p.period("allowTTL", time.Second)
	}
	if ttl > 0 && len(text) <= maxImageReviewKept {
		p.answers.Put(digest, said, p.now().Add(ttl))
	}
	return said, nil
}

func (p *imagePolicy) period(name string, unit time.Duration) time.Duration {
	n, _ := p.config.Int(name)
	return time.Duration(max(n, 0)) * unit
}
