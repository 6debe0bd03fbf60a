package dev.warmpath.router.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.router.rig.Certificates;
import dev.warmpath.router.security.Secrets;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code serve --check-config} finds what a start would fail at. */
class CheckConfigTest {

  @TempDir private Path folder;
  private final StringWriter err = new StringWriter();

  @BeforeEach
  void files() throws Exception {
    Certificates authority = new Certificates();
    Certificates.Issued issued = authority.issue("127.0.0.1");
    Files.writeString(folder.resolve("cert"), issued.certificatePem());
    Files.writeString(folder.resolve("key"), issued.keyPem());
    Files.writeString(folder.resolve("other-key"), authority.issue("x").keyPem());
    Files.writeString(folder.resolve("admin"), "0123456789abcdef\n");
    Files.writeString(folder.resolve("short"), "0123\n");
    Files.writeString(
        folder.resolve("keys"), "keys: [{name: a, sha256: [" + Secrets.hash("k") + "]}]");
    Files.writeString(folder.resolve("headers"), "x-key: v\n");
  }

  @Test
  void filesThatCanBeUsedAreFine() throws Exception {
    assertThat(
            check(
                "listen: {tls-cert: F/cert, tls-key: F/key}",
                "admin: {key-file: F/admin}",
                "auth: {keys-file: F/keys}",
                "models: [{name: m, tokenizer: embedded}]",
                "replicas: [{name: a, url: 'https://10.0.0.1', tls-ca: F/cert}]",
                "tracing: {endpoint: 'http://127.0.0.1:1', headers-file: F/headers}",
                "fleet: {allowed-hosts: [10.0.0.0/8]}"))
        .as(err.toString())
        .isEqualTo(Exit.OK);
  }

  @Test
  void anEmptyFleetIsWarnedOf() throws Exception {
    assertThat(warned("listen: {port: 8080}")).contains("warning: the fleet is empty");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{name: b, url: 'http://GPU-0:8000'} | replica 'b' has the url of replica 'a'",
        "{name: b, url: 'http://gpu-1:8000', events: 'tcp://gpu-0:5557'} "
            + "| 'events' of rank 0 of replica 'b' is also 'events' of rank 0 of replica 'a'",
        "{name: b, url: 'http://gpu-0:8001', ranks: 2, events: 'tcp://gpu-0:5556'} "
            + "| 'events' of rank 1 of replica 'b' is also 'events' of rank 0 of replica 'a'",
        "{name: b, url: 'http://gpu-0:8001', events: 'tcp://gpu-0:5657'} "
            + "| 'events' of rank 0 of replica 'b' is also 'replay' of rank 0 of replica 'a'",
        "{name: b, url: 'http://gpu-1:8000', ranks: 2, events: 'tcp://gpu-1:5557',"
            + " replay: 'tcp://gpu-1:5558'} "
            + "| 'events' of rank 1 of replica 'b' is also 'replay' of rank 0 of replica 'b'",
        "{name: b, url: 'http://gpu-0:8001', events: 'tcp://gpu-0:5558'} |",
      })
  void whatTwoReplicasShareIsWarnedOf(String replica, String warning) throws Exception {
    String first =
        "{name: a, url: 'http://gpu-0:8000', events: 'tcp://gpu-0:5557',"
            + " replay: 'tcp://gpu-0:5657'}";
    String printed = warned("replicas: [" + first + ", " + replica + "]");
    if (warning == null) {
      assertThat(printed).doesNotContain("warning");
    } else {
      assertThat(printed.lines().filter(line -> line.startsWith("warning:")))
          .singleElement()
          .asString()
          .contains(warning);
    }
  }

  private String warned(String line) throws Exception {
    PrintStream before = System.err;
    ByteArrayOutputStream printed = new ByteArrayOutputStream();
    System.setErr(new PrintStream(printed, true, UTF_8));
    try {
      assertThat(check(line)).as(err.toString()).isEqualTo(Exit.OK);
    } finally {
      System.setErr(before);
    }
    return printed.toString(UTF_8);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "listen: {host: 127.0.0.1, port: 9000} | http://127.0.0.1:9000 | true",
        "listen: {host: 127.0.0.1, port: 9000} | http://localhost:9000 | true",
        "listen: {host: localhost, port: 9000} | http://127.0.0.1:9000 | true",
        "listen: {host: 0.0.0.0, port: 9000} | http://127.0.0.1:9000 | true",
        "listen: {host: '::', port: 9000} | http://[::1]:9000 | true",
        "listen: {host: router.svc, port: 9000} | http://Router.svc:9000 | true",
        "admin: {host: 127.0.0.1, port: 9000} | http://127.0.0.1:9000 | true",
        "listen: {host: 127.0.0.1, port: 9000} | http://127.0.0.1:9001 | false",
        "listen: {host: 127.0.0.1, port: 9000} | http://10.255.255.254:9000 | false",
        "listen: {host: 0.0.0.0, port: 9000} | http://10.255.255.254:9000 | false",
        "listen: {host: 127.0.0.1, port: 0} | http://127.0.0.1:9000 | false",
      })
  void aReplicaThatIsTheRouterItselfIsNamed(String listen, String url, boolean own)
      throws Exception {
    int exit = check(listen, "replicas: [{name: a, url: '" + url + "'}]");
    assertThat(exit).as(err.toString()).isEqualTo(own ? Exit.USAGE : Exit.OK);
    if (own) {
      assertThat(err.toString()).contains("the url of 'a' is the router's own address: " + url);
    }
  }

  @Test
  void sizesThatDoNotFitTheHeapAreNamed() throws Exception {
    assertThat(check("index: {memory-mb: 1000000}")).isEqualTo(Exit.USAGE);
    assertThat(err.toString()).contains("index.memory-mb (1000000.0 MiB)");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "auth: {keys-file: F/none} | auth.keys-file: F/none: no such file",
        "auth: {keys-file: F/cert} | auth.keys-file: ",
        "admin: {key-file: F/short} | admin.key-file: ",
        "listen: {tls-cert: F/cert, tls-key: F/other-key} | listen.tls-cert: ",
        "admin: {tls-cert: F/none, tls-key: F/key} | admin.tls-cert: ",
        "replicas: [{name: a, url: 'https://10.0.0.1', tls-ca: F/none}] | replica a: ",
        "replicas: [{name: a, url: 'http://10.0.0.1', api-key-file: F/none}] | replica a: ",
        "tracing: {endpoint: 'http://127.0.0.1:1', headers-file: F/short} | F/short:1",
        "models: [{name: m, tokenizer: F/none}] | tokenizer of model 'm': F/none",
        "fleet: {allowed-hosts: [10.0.0.0/33]} | router.yaml:1: 'fleet.allowed-hosts': "
      })
  void whatAStartWouldFailAtIsNamed(String line, String problem) throws Exception {
    assertThat(check(line)).isEqualTo(Exit.USAGE);
    assertThat(err.toString()).contains(problem.replace("F/", folder + "/"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "\n", "# nothing yet", "---\n", "null"})
  void aFileWithoutContentIsNamed(String content) throws Exception {
    assertThat(check(content)).isEqualTo(Exit.USAGE);
    assertThat(err.toString()).containsPattern("router.yaml: is empty");
  }

  private int check(String... lines) throws Exception {
    Path file = folder.resolve("router.yaml");
    Files.writeString(file, String.join("\n", lines).replace("F/", folder + "/"));
    return Main.commandLine()
        .setErr(new PrintWriter(err, true))
        .execute("serve", "--config", file.toString(), "--check-config");
  }
}
