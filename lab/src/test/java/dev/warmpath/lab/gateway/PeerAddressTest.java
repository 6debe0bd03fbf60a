package dev.warmpath.lab.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warmpath.lab.bench.ProcFiles;
import dev.warmpath.lab.gateway.Gateway.PeerAddress;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PeerAddressTest {

  @TempDir private Path empty;

  @Test
  void readsNameUrlAndProcess() {
    assertThat(PeerAddress.parse("haproxy=http://127.0.0.1:31004"))
        .isEqualTo(new PeerAddress("haproxy", "127.0.0.1", 31_004, PeerAddress.UNKNOWN));
    assertThat(PeerAddress.parse("smg=http://localhost:1/,pid=42"))
        .isEqualTo(new PeerAddress("smg", "localhost", 1, 42));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "haproxy",
        "haproxy=127.0.0.1:31004",
        "haproxy=http://127.0.0.1",
        "haproxy=http://127.0.0.1:31004,pid=x",
        "haproxy=http://127.0.0.1:31004,port=1",
        "direct=http://127.0.0.1:31004",
        "warmpath=http://127.0.0.1:31004"
      })
  void refusesAnythingElse(String text) {
    assertThatThrownBy(() -> PeerAddress.parse(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("'");
  }

  @Test
  void needsAProcess() {
    ProcFiles nobody = new ProcFiles(empty);
    assertThatThrownBy(() -> Gateway.of(PeerAddress.parse("p=http://127.0.0.1:7"), nobody))
        .isInstanceOf(IOException.class)
        .hasMessage("p: no process is seen to listen on port 7; name it by pid=");
    assertThatThrownBy(
            () -> Gateway.of(PeerAddress.parse("p=http://127.0.0.1:7,pid=999999999"), nobody))
        .hasMessage("p: there is no process 999999999");
  }
}
