package clients

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	admissionregistration "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

var writes = []admissionregistration.OperationType{admissionregistration.Create, admissionregistration.Update}

func deploymentControllerWebhooks(namespace, name string) *appsv1.Deployment {
	labels := map[string]string{"app": name}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
			},
		},
	}
}

func denying(_ context.Context, r admission.Request) admission.Response {
	var d appsv1.Deployment
	if err := admission.NewDecoder(scheme.Scheme).Decode(r, &d); err != nil {
		return admission.Errored(http.StatusBadRequest, err)
	}
	if d.Kind != "Deployment" || d.APIVersion != "apps/v1" || len(d.Spec.Template.Spec.Containers) != 1 {
		return admission.Errored(http.StatusBadRequest, errUnexpected)
	}
	return admission.Denied("Always denied")
}

func allowing(context.Context, admission.Request) admission.Response { return admission.Allowed("") }

var errUnexpected = apierrors.NewBadRequest("this is another object than was written")

// TestDenyingServer checks that a webhook can deny requests in every server setup that
// controller-runtime supports. Requests must fail while no webhook server runs.
func TestDenyingServer(t *testing.T) {
	t.Parallel()
	for name, serve := range map[string]func(*controllerWebhookSite){
		"manager": func(s *controllerWebhookSite) {
			m := s.manager()
			m.GetWebhookServer().Register("/failing", &webhook.Admission{Handler: admission.HandlerFunc(denying)})
			s.startManager(m)
		},
		"several handlers": func(s *controllerWebhookSite) {
			m := s.manager()
			m.GetWebhookServer().Register("/failing", &webhook.Admission{Handler: admission.MultiValidatingHandler(admission.HandlerFunc(allowing), admission.HandlerFunc(denying))})
			s.startManager(m)
		},
		"no manager": func(s *controllerWebhookSite) {
			server := webhook.NewServer(s.options())
			server.Register("/failing", &webhook.Admission{Handler: admission.HandlerFunc(denying)})
			s.startServer(server)
		},
		"standalone": func(s *controllerWebhookSite) {
			s.serve("/failing", &admission.Webhook{Handler: admission.HandlerFunc(denying)})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, func(namespace string, o *envtest.WebhookInstallOptions) {
				o.ValidatingWebhooks = append(o.ValidatingWebhooks, validating(namespace, "/failing", about("apps", []string{"deployments"}, writes...)))
			})
			if err := s.Create(t.Context(), deploymentControllerWebhooks(s.namespace, "early")); err == nil || !strings.Contains(err.Error(), "failed to call webhook") {
				t.Errorf("without a webhook server: %v", err)
			}
			serve(s)
			err := s.Create(t.Context(), deploymentControllerWebhooks(s.namespace, "d"))
			if apierrors.ReasonForError(err) != metav1.StatusReasonForbidden || !strings.HasSuffix(err.Error(), "Always denied") {
				t.Errorf("refused with %v", err)
			}
		})
	}
}

func (s *controllerWebhookSite) startManager(m interface {
	Start(context.Context) error
	GetWebhookServer() webhook.Server
}) {
	s.Helper()
	started := m.GetWebhookServer().StartedChecker()
	s.start(m, func() error { return started(nil) })
}

func (s *controllerWebhookSite) startServer(server webhook.Server) {
	s.Helper()
	started := server.StartedChecker()
	s.start(server, func() error { return started(nil) })
}

// serve serves one webhook until the test ends. It uses plain net/http without controller-runtime's
// server.
func (s *controllerWebhookSite) serve(path string, hook *admission.Webhook) {
	s.Helper()
	handler, err := admission.StandaloneWebhook(hook, admission.StandaloneOptions{MetricsPath: path})
	if err != nil {
		s.Fatal(err)
	}
	o := s.options()
	pair, err := tls.LoadX509KeyPair(filepath.Join(o.CertDir, "tls.crt"), filepath.Join(o.CertDir, "tls.key"))
	if err != nil {
		s.Fatal(err)
	}
	listener, err := net.Listen("tcp", net.JoinHostPort(o.Host, strconv.Itoa(o.Port)))
	if err != nil {
		s.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle(path, handler)
	server := &http.Server{Handler: mux, TLSConfig: &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}}
	ended := make(chan error, 1)
	go func() { ended <- server.ServeTLS(listener, "", "") }()
	s.Cleanup(func() {
		if err := server.Shutdown(context.Background()); err != nil {
			s.Error(err)
		}
		<-ended
	})
}
