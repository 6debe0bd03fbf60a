package dev.warmpath.lab.gateway;

import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.Consumer;

/**
 * Gives each gateway its turn in each cell of each round. All get the same requests, which no
 * gateway has seen before, and the order changes from round to round. A peer that has ended is left
 * out.
 */
record Rounds(GatewayPlan plan, TurnRunner runner, Consumer<String> progress) {

  /** Runs them; the replicas answer as each cell says. */
  List<Turn> run(List<Gateway> gateways, Backends backends)
      throws IOException, InterruptedException {
    List<Turn> turns = new ArrayList<>();
    for (int round = 0; round < plan.rounds(); round++) {
      List<Gateway> order = new ArrayList<>(gateways);
      Collections.rotate(order, -round);
      for (GatewayCell cell : plan.cells()) {
        progress.accept("round %d of %d, %s".formatted(round + 1, plan.rounds(), cell.name()));
        backends.answer(cell.shape());
        turns.addAll(turns(round, cell, order));
      }
    }
    return turns;
  }

  private List<Turn> turns(int round, GatewayCell cell, List<Gateway> gateways)
      throws IOException, InterruptedException {
    int leadIn = cell.count(plan.leadIn());
    int count = leadIn + Math.max(1, cell.count(plan.measured()));
    List<ByteBuf> requests =
        cell.requests(Backends.MODEL, count, 1_000L * round + cell.name().hashCode());
    List<Turn> turns = new ArrayList<>();
    for (Gateway gateway : gateways) {
      try {
        turns.add(runner.turn(round, cell, gateway, requests, leadIn));
      } catch (IOException e) {
        if (gateway.name().equals(GatewayReport.OURS)) {
          throw e;
        }
        progress.accept("%s is left out: %s".formatted(gateway.name(), e.getMessage()));
      }
    }
    return turns;
  }
}
