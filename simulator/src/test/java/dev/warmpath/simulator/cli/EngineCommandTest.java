package dev.warmpath.simulator.cli;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warmpath.router.cli.CommandException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

final class EngineCommandTest {

  @ParameterizedTest
  @CsvSource({
    "--port,65536",
    "--events-port,-1",
    "--block-size,0",
    "--blocks,1",
    "--host-blocks,-1",
    "--speed,0",
    "--speed,0.0001",
    "--speed,NaN",
    "--kv-bandwidth,0",
    "--kv-latency-ms,-1",
    "--kv-lease-seconds,0"
  })
  void namesTheFlagThatIsOutOfBounds(String flag, String value) {
    assertThatThrownBy(() -> run(flag, value))
        .isInstanceOf(CommandException.class)
        .hasMessageStartingWith(flag);
  }

  @Test
  void namesThePortThatIsTaken() throws IOException {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"))) {
      String port = Integer.toString(taken.getLocalPort());
      assertThatThrownBy(() -> run("--port", port, "--events-port", "0", "--replay-port", "0"))
          .isInstanceOf(CommandException.class)
          .hasMessageStartingWith("port " + port);
      assertThatThrownBy(() -> run("--port", "0", "--events-port", port, "--replay-port", "0"))
          .isInstanceOf(CommandException.class)
          .hasMessageStartingWith("events port " + port);
    }
  }

  private static void run(String... args) throws InterruptedException {
    EngineCommand command = new EngineCommand();
    new CommandLine(command).setCaseInsensitiveEnumValuesAllowed(true).parseArgs(args);
    command.call();
  }
}
