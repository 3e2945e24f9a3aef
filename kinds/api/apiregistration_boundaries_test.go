package api_test

import (
	"testing"
)

func TestAPIRegistrationValidObjects(t *testing.T) {
	const registration = "apiregistration.platform.io"
	apiService := func(more string) string {
		return `{"metadata":{"name":"v1.a.example"},"spec":{"group":"a.example","version":"v1",` + more + `}}`
	}
	ExpectValid(t, registration, "v1", "APIService", apiService(`"groupPriorityMinimum":20000,"versionPriority":1000,"service":{"name":"s","namespace":"n","port":65535},"insecureSkipTLSVerify":true`),
		apiService(`"groupPriorityMinimum":1,"versionPriority":1,"service":{"name":"s","namespace":"n","port":1},"caBundle":"`+CertificateText(t)+`"`))
}
