import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.regex.Pattern;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests the JUnit extension of docs/recipes.md. */
class TroupeTest {
    @RegisterExtension
    static Troupe troupe = new Troupe();

    @Test
    void createsConfigMap() throws Exception {
        var client = HttpClient.newBuilder().sslContext(credentials()).build();
        var collection = URI.create(troupe.url + "/api/v1/namespaces/default/configmaps");
        var create = HttpRequest.newBuilder(collection).header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString("{\"metadata\":{\"name\":\"a\"},\"data\":{\"color\":\"blue\"}}")).build();
        assertEquals(201, client.send(create, BodyHandlers.ofString()).statusCode());
        var read = HttpRequest.newBuilder(URI.create(collection + "/a")).build();
        assertTrue(client.send(read, BodyHandlers.ofString()).body().contains("\"color\":\"blue\""));
    }

    /** Returns the CA and the client certificate of the kubeconfig. */
    private static SSLContext credentials() throws Exception {
        var certificates = CertificateFactory.getInstance("X.509");
        var store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        store.setCertificateEntry("ca", certificates.generateCertificate(new ByteArrayInputStream(data("certificate-authority-data"))));
        var der = new String(data("client-key-data")).replaceAll("-----[^-]+-----|\\s", "");
        var key = KeyFactory.getInstance("EC").generatePrivate(new PKCS8EncodedKeySpec(Base64.getDecoder().decode(der)));
        var certificate = certificates.generateCertificate(new ByteArrayInputStream(data("client-certificate-data")));
        store.setKeyEntry("client", key, new char[0], new Certificate[] {certificate});
        var keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        keys.init(store, new char[0]);
        var trusted = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trusted.init(store);
        var context = SSLContext.getInstance("TLS");
        context.init(keys.getKeyManagers(), trusted.getTrustManagers(), null);
        return context;
    }

    /** Returns the decoded value of a field in the kubeconfig. */
    private static byte[] data(String field) throws Exception {
        var found = Pattern.compile(field + ": (\\S+)").matcher(Files.readString(troupe.kubeconfig));
        assertTrue(found.find(), field);
        return Base64.getDecoder().decode(found.group(1));
    }
}
