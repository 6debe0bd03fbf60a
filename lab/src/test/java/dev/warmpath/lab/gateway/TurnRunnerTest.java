package dev.warmpath.lab.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warmpath.lab.bench.ProcFiles;
import dev.warmpath.lab.gateway.TurnRunner.ColdStart;
import dev.warmpath.lab.gateway.TurnRunner.Turn;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** Stubs of this very process pass for a gateway, whose CPU time is then that of the test. */
@EnabledOnOs(OS.LINUX)
@Timeout(60)
class TurnRunnerTest {

  private static final GatewayCell CELL = GatewayCell.PLAIN.at(1_000);

  private final StubServer stub = new StubServer(Backends.MODEL, List.of(0, 0));
  private final TurnRunner runner = new TurnRunner(ProcFiles.ofTheMachine());
  private final List<ByteBuf> requests = CELL.requests(Backends.MODEL, 150, 1);

  TurnRunnerTest() throws IOException {}

  @AfterEach
  void close() {
    runner.close();
    stub.close();
  }

  @Test
  void turnCountsTheMeasuredPartOnly() throws Exception {
    Turn turn = runner.turn(3, CELL, gateway(ProcessHandle.current().pid()), requests, 50);
    assertThat(turn.round()).isEqualTo(3);
    assertThat(turn.cell()).isEqualTo("2k-plain");
    assertThat(turn.answered()).isEqualTo(100);
    assertThat(turn.failures()).isEmpty();
    assertThat(turn.cpuMicrosPerRequest()).isPositive();
    assertThat(turn.busyShare()).isBetween(0.0, 1.0);
  }

  @Test
  void replicasThemselvesHaveNoCpuTime() throws Exception {
    Turn turn = runner.turn(0, CELL, Gateway.direct(stub.ports()), requests, 0);
    assertThat(turn.answered()).isEqualTo(150);
    assertThat(turn.cpuMicrosPerRequest()).isNaN();
  }

  @Test
  void coldStartCountsAllRequests() throws Exception {
    ColdStart cold = runner.cold(gateway(ProcessHandle.current().pid()), requests);
    assertThat(cold.answered()).isEqualTo(150);
    assertThat(cold.answeredShare()).isPositive();
    assertThat(cold.cpuMicrosPerRequest()).isPositive();
    assertThat(cold.cpuSecondsToReady()).isPositive();
  }

  @Test
  void gatewayThatHasEndedCannotBeMeasured() {
    assertThatThrownBy(() -> runner.turn(0, CELL, gateway(999_999_999), requests, 0))
        .isInstanceOf(IOException.class)
        .hasMessage("process 999999999 has ended");
    assertThatThrownBy(() -> runner.idle(gateway(999_999_999), 0)).isInstanceOf(IOException.class);
  }

  @Test
  void idleTimeIsThatOfTheProcess() throws Exception {
    assertThat(runner.idle(gateway(ProcessHandle.current().pid()), 0.1)).isNotNegative();
  }

  private Gateway gateway(long pid) {
    return new Gateway("stub", Gateway.direct(stub.ports()).addresses(), Set.of(pid));
  }
}
