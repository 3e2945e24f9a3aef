import java.io.IOException;
import java.nio.file.Path;
import java.util.regex.Pattern;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** An API server for the tests of a class, in a field with RegisterExtension. */
class Troupe implements BeforeAllCallback, AfterAllCallback {
    private static final Pattern READY = Pattern.compile("troupe ready: (\\S+) .*KUBECONFIG=(.+) in .*");
    private Process process;
    String url;
    Path kubeconfig;

    @Override
    public void beforeAll(ExtensionContext context) throws IOException {
        process = new ProcessBuilder("troupe", "serve", "--ephemeral", "--secure-port", "0", "--naming", "kubernetes")
            .redirectError(ProcessBuilder.Redirect.INHERIT).start();
        String line = process.inputReader().readLine(); // null if the server fails to start
        var ready = READY.matcher(String.valueOf(line));
        if (!ready.matches()) {
            throw new IOException("not ready: " + line);
        }
        url = ready.group(1);
        kubeconfig = Path.of(ready.group(2));
    }

    @Override
    public void afterAll(ExtensionContext context) throws InterruptedException {
        process.destroy();
        process.waitFor();
    }
}
