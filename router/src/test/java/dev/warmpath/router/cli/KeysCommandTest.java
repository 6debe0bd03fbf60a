package dev.warmpath.router.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.router.config.ConfigException;
import dev.warmpath.router.security.ApiKeys;
import dev.warmpath.router.security.ApiKeys.ApiKeyConfig;
import dev.warmpath.router.security.Secrets;
import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;

class KeysCommandTest {

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  @Test
  void theEntryIsThatOfTheKey() throws ConfigException {
    assertThat(run("keys", "new", "team-a")).isEqualTo(Exit.OK);
    String printed = out.toString();
    String key =
        printed.lines().filter(line -> line.startsWith("  wpk-")).findFirst().orElseThrow();
    ApiKeyConfig entry =
        ApiKeys.ApiKeyFile.parse(printed.substring(printed.lastIndexOf("keys:")), "f")
            .keys()
            .get(0);
    assertThat(entry.name()).isEqualTo("team-a");
    assertThat(entry.sha256()).containsExactly(Secrets.hash(key.strip()));
    assertThat(key.strip()).hasSize(4 + 43);
  }

  @Test
  void noTwoKeysAreAlike() {
    assertThat(Secrets.fresh()).isNotEqualTo(Secrets.fresh());
  }

  @Test
  void aNameThatTheFileWouldRefuseIsRefused() {
    assertThat(run("keys", "new", "team a")).isEqualTo(Exit.USAGE);
    assertThat(err.toString()).contains("'name'");
    assertThat(out.toString()).isEmpty();
  }

  private int run(String... args) {
    return Main.commandLine()
        .setOut(new PrintWriter(out, true))
        .setErr(new PrintWriter(err, true))
        .execute(args);
  }
}
