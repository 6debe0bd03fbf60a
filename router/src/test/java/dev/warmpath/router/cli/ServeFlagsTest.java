package dev.warmpath.router.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.warmpath.eventingest.hashing.EventFormat;
import dev.warmpath.eventingest.hashing.SglangNamespaces;
import dev.warmpath.router.config.ConfigException;
import dev.warmpath.router.config.ModelConfig;
import dev.warmpath.router.config.ReplicaConfig;
import dev.warmpath.router.config.RouterConfig;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

class ServeFlagsTest {

  @Test
  void flagsMakeAWholeConfiguration() throws ConfigException {
    RouterConfig config =
        flags(
                "--port",
                "0",
                "--admin-port",
                "1",
                "--host",
                "0.0.0.0",
                "--policy",
                "random",
                "--tokenizer",
                "m=embedded",
                "--set",
                "timeouts.connect-ms=5",
                "--replica",
                "a=http://h:1,events=tcp://h:2,replay=tcp://h:3,bind=true,ranks=2,dialect=sglang,event-format=dynamo,lora=fr=lora/fr,lora=en=lora/en,load-back-tokens=0,model=m,models=n",
                "--replica",
                "b=http://h:4")
            .config();
    assertThat(config.listen().host()).isEqualTo("0.0.0.0");
    assertThat(config.listen().port()).isZero();
    assertThat(config.admin().port()).isEqualTo(1);
    assertThat(config.policy().name()).isEqualTo("random");
    assertThat(config.models()).containsExactly(new ModelConfig("m", "embedded"));
    assertThat(config.timeouts().connectMs()).isEqualTo(5);
    ReplicaConfig a = config.replicas().get(0);
    assertThat(a.events()).isEqualTo("tcp://h:2");
    assertThat(a.bind()).isTrue();
    assertThat(a.ranks()).isEqualTo(2);
    assertThat(a.dialect()).isEqualTo(ReplicaConfig.Dialect.SGLANG);
    assertThat(a.sglang().namespaces())
        .isEqualTo(
            SglangNamespaces.of(EventFormat.DYNAMO, Map.of("fr", "lora/fr", "en", "lora/en")));
    assertThat(a.sglang().loadBackTokens()).isZero();
    assertThat(a.models()).containsExactly("m", "n");
    assertThat(a.eventsOf(1)).isEqualTo("tcp://h:3");
    assertThat(config.replicas().get(1).events()).isNull();
  }

  @Test
  void flagsLieOverTheFile(@TempDir Path folder) throws Exception {
    Path file = folder.resolve("w.yaml");
    Files.writeString(file, "listen: {port: 7}\npolicy: {name: random}\n");
    RouterConfig config = flags("--config", file.toString(), "--port", "8").config();
    assertThat(config.listen().port()).isEqualTo(8);
    assertThat(config.policy().name()).isEqualTo("random");
  }

  @Test
  void whatIsWrongNamesItsFlag() {
    assertThat(problem("--port", "70000")).startsWith("--port: 'listen.port' must be");
    assertThat(problem("--policy", "best")).startsWith("--policy: 'policy.name' must be one of");
    assertThat(problem("--replica", "a")).isEqualTo("--replica a: 'a' must be NAME=URL");
    assertThat(problem("--replica", "a=http://h:1,event=x"))
        .contains("--replica a=http://h:1,event=x: unknown key 'replicas[].event'");
    assertThat(problem("--replica", "a=h:1")).contains("'url' must be http://host:port");
    assertThat(problem("--set", "listen.prt=1")).contains("did you mean 'listen.port'?");
    assertThat(problem("--tokenizer", "m")).contains("must be MODEL=DIR");
    assertThat(problem("--config", "/nowhere.yaml")).isEqualTo("/nowhere.yaml: no such file");
  }

  private static ServeFlags flags(String... args) {
    ServeFlags flags = new ServeFlags();
    new CommandLine(new Holder(flags)).parseArgs(args);
    return flags;
  }

  private static String problem(String... args) {
    return catchThrowableOfType(ConfigException.class, () -> flags(args).config())
        .problems()
        .get(0);
  }

  @CommandLine.Command
  static final class Holder {
    @CommandLine.Mixin private final ServeFlags flags;

    Holder(ServeFlags flags) {
      this.flags = flags;
    }
  }
}
