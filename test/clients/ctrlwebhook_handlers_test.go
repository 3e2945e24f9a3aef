package clients

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	admissionregistration "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	ctrlclient "sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// everything lists the operations for which controller-runtime calls validators.
var everything = append([]admissionregistration.OperationType{admissionregistration.Delete}, writes...)

// letters is a defaulter and validator for ConfigMaps. Its response depends on the ConfigMap's
// data.
type letters struct{}

func (letters) Default(ctx context.Context, c *corev1.ConfigMap) error {
	r, err := admission.RequestFromContext(ctx)
	if err != nil {
		return err
	}
	if c.Data["greeting"] == "" {
		if c.Data == nil {
			c.Data = map[string]string{}
		}
		c.Data["greeting"] = "hello " + r.Name
	}
	return nil
}

func (letters) ValidateCreate(_ context.Context, c *corev1.ConfigMap) (admission.Warnings, error) {
	switch {
	case c.Data["panic"] != "":
		panic(c.Data["panic"])
	case c.Data["status"] != "":
		return nil, apierrors.NewNotFound(schema.GroupResource{Resource: "letters"}, c.Data["status"])
	case c.Data["error"] != "":
		return admission.Warnings{"an error is near"}, errors.New(c.Data["error"])
	}
	return admission.Warnings{"created with " + c.Data["greeting"]}, nil
}

func (letters) ValidateUpdate(_ context.Context, old, now *corev1.ConfigMap) (admission.Warnings, error) {
	if old.Data["greeting"] != now.Data["greeting"] {
		return nil, apierrors.NewInvalid(schema.GroupKind{Kind: "Letter"}, now.Name, nil)
	}
	return admission.Warnings{"updated"}, nil
}

func (letters) ValidateDelete(_ context.Context, c *corev1.ConfigMap) (admission.Warnings, error) {
	if c.Data["keep"] != "" {
		return nil, errors.New("it is kept")
	}
	return admission.Warnings{"deleted " + c.Name}, nil
}

func (s *controllerWebhookSite) configMap(name string, data map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name}, Data: data}
}

func (s *controllerWebhookSite) refused(err error, code int32, text string) {
	s.Helper()
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Code != code || !strings.HasSuffix(err.Error(), text) {
		s.Errorf("refused with %v, want %d …%s", err, code, text)
	}
}

// TestBuilder tests webhooks that controller-runtime's builder registers at a type's default paths.
func TestBuilder(t *testing.T) {
	t.Parallel()
	s := open(t, func(namespace string, o *envtest.WebhookInstallOptions) {
		rules := about("", []string{"configmaps"}, everything...)
		o.MutatingWebhooks = append(o.MutatingWebhooks, mutating(namespace, "/mutate--v1-configmap", rules))
		o.ValidatingWebhooks = append(o.ValidatingWebhooks, validating(namespace, "/validate--v1-configmap", rules))
	})
	m := s.manager()
	if err := builder.WebhookManagedBy(m, &corev1.ConfigMap{}).WithDefaulter(letters{}).WithValidator(letters{}).Complete(); err != nil {
		t.Fatal(err)
	}
	s.startManager(m)

	c := s.configMap("c", nil)
	s.create(c)
	if c.Data["greeting"] != "hello c" {
		t.Errorf("created: %v", c.Data)
	}
	s.warnings.expect(t, "created with hello c")
	s.refused(s.Create(t.Context(), s.configMap("p", map[string]string{"panic": "oh"})), http.StatusInternalServerError, "panic: oh [recovered]")
	s.refused(s.Create(t.Context(), s.configMap("s", map[string]string{"status": "l"})), http.StatusNotFound, `letters "l" not found`)
	s.refused(s.Create(t.Context(), s.configMap("e", map[string]string{"error": "no"})), http.StatusForbidden, "denied the request: no")
	s.warnings.expect(t, "an error is near")

	before := c.DeepCopy()
	c.Data["more"] = "text"
	if err := s.Update(t.Context(), c); err != nil {
		t.Error(err)
	}
	s.warnings.expect(t, "updated")
	s.refused(s.Patch(t.Context(), c.DeepCopy(), ctrlclient.RawPatch("application/merge-patch+json", []byte(`{"data":{"greeting":"bye"}}`))),
		http.StatusUnprocessableEntity, `Letter "c" is invalid`)
	s.refused(s.Update(t.Context(), before), http.StatusConflict, "please apply your changes to the latest version and try again")
	s.warnings.expect(t)

	if err := s.Delete(t.Context(), c); err != nil {
		t.Error(err)
	}
	s.warnings.expect(t, "deleted c")
	kept := s.configMap("kept", map[string]string{"keep": "yes"})
	s.create(kept)
	s.refused(s.Delete(t.Context(), kept), http.StatusForbidden, "denied the request: it is kept")
	if err := s.Get(t.Context(), ctrlclient.ObjectKeyFromObject(kept), kept); err != nil || kept.DeletionTimestamp != nil {
		t.Errorf("after a refused deletion: %v, %v", kept.DeletionTimestamp, err)
	}
}

// TestDefaulterOfGeneratedName checks that an admission request has no name if the object has a
// generateName.
func TestDefaulterOfGeneratedName(t *testing.T) {
	t.Parallel()
	s := open(t, func(namespace string, o *envtest.WebhookInstallOptions) {
		o.MutatingWebhooks = append(o.MutatingWebhooks, mutating(namespace, "/default", about("", []string{"configmaps"}, writes...)))
	})
	s.serve("/default", admission.WithDefaulter[*corev1.ConfigMap](s.Scheme(), letters{}, admission.DefaulterRemoveUnknownOrOmitableFields))
	c := s.configMap("", nil)
	c.GenerateName = "g-"
	s.create(c)
	if !strings.HasPrefix(c.Name, "g-") || c.Data["greeting"] != "hello " {
		t.Errorf("created: %s %v", c.Name, c.Data)
	}
}

// TestSeveralPatches checks that the patches and warnings of a webhook's handlers are combined.
func TestSeveralPatches(t *testing.T) {
	t.Parallel()
	s := open(t, func(namespace string, o *envtest.WebhookInstallOptions) {
		c := mutating(namespace, "/several", about("", []string{"configmaps"}, writes...))
		c.Webhooks[0].AdmissionReviewVersions = []string{"v1beta1"}
		o.MutatingWebhooks = append(o.MutatingWebhooks, c)
	})
	labels := func(key string) admission.Handler {
		return admission.HandlerFunc(func(_ context.Context, r admission.Request) admission.Response {
			var c corev1.ConfigMap
			if err := admission.NewDecoder(s.Scheme()).Decode(r, &c); err != nil {
				return admission.Errored(http.StatusBadRequest, err)
			}
			if c.Data["without"] == key {
				return admission.Denied("without " + key)
			}
			was := c.DeepCopy()
			c.Labels[key] = "yes"
			return admission.PatchResponseFromRaw(marshal(t, was), marshal(t, &c)).WithWarnings("labelled " + key)
		})
	}
	s.serve("/several", &admission.Webhook{Handler: admission.MultiMutatingHandler(labels("a"), labels("b"))})
	c := s.configMap("c", nil)
	c.Labels = map[string]string{"own": "yes"}
	s.create(c)
	if len(c.Labels) != 3 || c.Labels["a"] != "yes" || c.Labels["b"] != "yes" {
		t.Errorf("created: %v", c.Labels)
	}
	s.warnings.expect(t, "labelled a", "labelled b")
	refused := s.configMap("refused", map[string]string{"without": "b"})
	refused.Labels = map[string]string{"own": "yes"}
	s.refused(s.Create(t.Context(), refused), http.StatusForbidden, "denied the request: without b")
}
