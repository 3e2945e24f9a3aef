package main

import (
	"errors"
	"flag"
	"fmt"
	"net"
	"os"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	apiopenapi "k8s.io/apiserver/pkg/endpoints/openapi"
	"k8s.io/apiserver/pkg/registry/rest"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/options"
	"k8s.io/apiserver/pkg/util/compatibility"
	"k8s.io/metrics/pkg/apis/metrics/install"
	"k8s.io/metrics/pkg/apis/metrics/v1beta1"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func main() {
	kubeconfig := flag.String("kubeconfig", "", "how the daemon is reached")
	host := flag.String("host", "", "the name in the certificate")
	flag.Parse()
	if err := serve(*kubeconfig, *host); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serve(kubeconfig, host string) error {
	scheme := newScheme()
	codecs := serializer.NewCodecFactory(scheme)
	config := genericapiserver.NewRecommendedConfig(codecs)
	config.EffectiveVersion = compatibility.DefaultBuildEffectiveVersion()
	namer := apiopenapi.NewDefinitionNamer(scheme)
	config.OpenAPIConfig = genericapiserver.DefaultOpenAPIConfig(definitions, namer)
	config.OpenAPIConfig.Info.Title, config.OpenAPIConfig.Info.Version = "metrics", "v1"
	config.OpenAPIV3Config = genericapiserver.DefaultOpenAPIV3Config(definitions, namer)
	config.OpenAPIV3Config.Info = config.OpenAPIConfig.Info
	if err := secure(config, host); err != nil {
		return err
	}
	if err := delegate(config, kubeconfig); err != nil {
		return err
	}
	server, err := config.Complete().New("metrics", genericapiserver.NewEmptyDelegate())
	if err != nil {
		return err
	}
	group := genericapiserver.NewDefaultAPIGroupInfo(v1beta1.GroupName, scheme, runtime.NewParameterCodec(scheme), codecs)
	group.VersionedResourcesStorageMap["v1beta1"] = map[string]rest.Storage{"nodes": newNodes(), "pods": newPods()}
	if err := server.InstallAPIGroup(&group); err != nil {
		return err
	}
	return server.PrepareRun().RunWithContext(genericapiserver.SetupSignalContext())
}

func newScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	install.Install(scheme)
	v1 := schema.GroupVersion{Version: "v1"}
	metav1.AddToGroupVersion(scheme, v1)
	scheme.AddUnversionedTypes(v1, &metav1.Status{}, &metav1.APIVersions{}, &metav1.APIGroupList{}, &metav1.APIGroup{}, &metav1.APIResourceList{})
	return scheme
}

// secure configures the inherited listener and a self-signed certificate.
func secure(config *genericapiserver.RecommendedConfig, host string) error {
	listener, err := net.FileListener(os.NewFile(3, "listener"))
	if err != nil {
		return err
	}
	o := options.NewSecureServingOptions()
	o.Listener, o.BindPort = listener, listener.Addr().(*net.TCPAddr).Port
	if err := o.MaybeDefaultWithSelfSignedCerts(host, nil, []net.IP{net.IPv4(127, 0, 0, 1)}); err != nil {
		return err
	}
	if err := o.WithLoopback().ApplyTo(&config.SecureServing, &config.LoopbackClientConfig); err != nil {
		return err
	}
	ca, _ := config.SecureServing.Cert.CurrentCertKeyContent()
	_, err = os.Stdout.Write(ca)
	return errors.Join(err, os.Stdout.Close())
}

func delegate(config *genericapiserver.RecommendedConfig, kubeconfig string) error {
	authentication := options.NewDelegatingAuthenticationOptions()
	authentication.RemoteKubeConfigFile = kubeconfig
	if err := authentication.ApplyTo(&config.Authentication, config.SecureServing, config.OpenAPIConfig); err != nil {
		return err
	}
	authorization := options.NewDelegatingAuthorizationOptions()
	authorization.RemoteKubeConfigFile = kubeconfig
	return authorization.ApplyTo(&config.Authorization)
}
