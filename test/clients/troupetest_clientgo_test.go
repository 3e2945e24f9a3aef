package clients

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/troupe-api/troupe/cmd/troupe/troupetest"
)

func clientset(t *testing.T, credentials *troupetest.Credentials) kubernetes.Interface {
	t.Helper()
	config, err := clientcmd.RESTConfigFromKubeConfig(credentials.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// TestClientGo is an example of a test with client-go clients for the administrator and another
// user.
func TestClientGo(t *testing.T) {
	t.Parallel()
	server := troupetest.Start(t)
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "key"}, StringData: map[string]string{"key": "value"}}
	if _, err := clientset(t, server.Credentials).CoreV1().Secrets("default").Create(t.Context(), secret, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	jane := clientset(t, server.User("jane", "developers"))
	if _, err := jane.CoreV1().Secrets("default").Get(t.Context(), "key", metav1.GetOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("jane reads the Secret: %v", err)
	}
}
