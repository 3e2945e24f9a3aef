package extension

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/conversion"
	webhook "sigs.k8s.io/controller-runtime/pkg/webhook/conversion"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
)

// A Timer is an object in the hub version, which is also the storage version.
type Timer struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              struct {
		Seconds int `json:"seconds"`
	} `json:"spec"`
}

func (*Timer) Hub() {}

func (t *Timer) DeepCopyObject() runtime.Object { out := *t; return &out }

// A TimerAlpha is an object in a spoke version. Its duration is a string in minutes.
type TimerAlpha struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              struct {
		Duration string `json:"duration"`
	} `json:"spec"`
}

var _ conversion.Convertible = (*TimerAlpha)(nil)

func (t *TimerAlpha) DeepCopyObject() runtime.Object { out := *t; return &out }

// ConvertTo implements conversion.Convertible. It keeps the remaining seconds in an annotation.
func (t *TimerAlpha) ConvertTo(hub conversion.Hub) error {
	out := hub.(*Timer)
	out.ObjectMeta = *t.ObjectMeta.DeepCopy()
	minutes, err := strconv.Atoi(strings.TrimSuffix(t.Spec.Duration, "m"))
	if err != nil {
		return fmt.Errorf("duration %q: %w", t.Spec.Duration, err)
	}
	rest, _ := strconv.Atoi(t.Annotations["seconds"])
	delete(out.Annotations, "seconds")
	out.Spec.Seconds = 60*minutes + rest
	return nil
}

func (t *TimerAlpha) ConvertFrom(hub conversion.Hub) error {
	in := hub.(*Timer)
	t.ObjectMeta = *in.ObjectMeta.DeepCopy()
	t.Spec.Duration = fmt.Sprintf("%dm", in.Spec.Seconds/60)
	if rest := in.Spec.Seconds % 60; rest > 0 {
		if t.Annotations == nil {
			t.Annotations = map[string]string{}
		}
		t.Annotations["seconds"] = strconv.Itoa(rest)
	}
	return nil
}

// TestControllerRuntime checks that a webhook with controller-runtime's hub and spokes works
// unmodified. Data that the webhook keeps in annotations survives a round trip.
func TestControllerRuntime(t *testing.T) {
	t.Parallel()
	scheme := runtime.NewScheme()
	scheme.AddKnownTypeWithName(schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Timer"}, &Timer{})
	scheme.AddKnownTypeWithName(schema.GroupVersionKind{Group: "example.com", Version: "v1alpha1", Kind: "Timer"}, &TimerAlpha{})
	h := startConversion(t)
	h.Config.Handler = webhook.NewWebhookHandler(scheme, webhook.NewRegistry())
	s := serveConversion(t, func(c *daemon.Config) { c.Naming = "kubernetes" })
	version := func(name, field string, stored bool) string {
		return fmt.Sprintf(`{"name":%q,"served":true,"storage":%t,"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{%s}}}}}}`, name, stored, field)
	}
	s.Send(201, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", client.JSON, `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"timers.example.com"},
		"spec":{"group":"example.com","scope":"Namespaced","names":{"plural":"timers","kind":"Timer"},
		"conversion":{"strategy":"Webhook","webhook":{"conversionReviewVersions":["v1"],"clientConfig":`+h.clientConfig()+`}},
		"versions":[`+version("v1", `"seconds":{"type":"integer"}`, true)+`,`+version("v1alpha1", `"duration":{"type":"string"}`, false)+`]}}`)
	const hub, spoke = "/apis/example.com/v1/namespaces/default/timers", "/apis/example.com/v1alpha1/namespaces/default/timers"
	s.Send(201, "POST", hub, client.JSON, `{"apiVersion":"example.com/v1","kind":"Timer","metadata":{"name":"a","labels":{"x":"y"}},"spec":{"seconds":90}}`)
	o := s.wantSpec(spoke+"/a", `{"duration":"1m"}`)
	s.want(o, `"annotations":{"seconds":"30"}`)
	s.want(o, `"labels":{"x":"y"}`)
	s.Send(200, "PUT", spoke+"/a", client.JSON, strings.Replace(o.String(), `"1m"`, `"2m"`, 1))
	if o := s.wantSpec(hub+"/a", `{"seconds":150}`); o.Metadata()["annotations"] != nil {
		t.Errorf("%s has kept the annotation of the other version", o)
	}
	s.Send(200, "PATCH", spoke+"/a?fieldManager=m&force=true", conversionTypeApply, `{"apiVersion":"example.com/v1alpha1","kind":"Timer","metadata":{"name":"a"},"spec":{"duration":"5m"}}`)
	s.wantSpec(hub+"/a", `{"seconds":330}`)
	a := s.Send(500, "POST", spoke, client.JSON, `{"apiVersion":"example.com/v1alpha1","kind":"Timer","metadata":{"name":"b"},"spec":{"duration":"long"}}`)
	if message(a) != `conversion webhook for example.com/v1alpha1, Kind=Timer failed: duration "long": strconv.Atoi: parsing "long": invalid syntax` {
		t.Error(a)
	}
}
