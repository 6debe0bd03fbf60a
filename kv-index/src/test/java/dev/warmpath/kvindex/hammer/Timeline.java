package dev.warmpath.kvindex.hammer;

import dev.warmpath.kvindex.KvIndex;
import dev.warmpath.kvindex.PrefixMatches;
import dev.warmpath.kvindex.StorageTier;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.model.ReferenceModel;
import dev.warmpath.kvindex.proof.Side;
import dev.warmpath.kvindex.workload.Script;
import dev.warmpath.kvindex.workload.Step;
import dev.warmpath.kvindex.workload.Step.Clear;
import dev.warmpath.kvindex.workload.Step.Leave;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;

/**
 * All states that the model passes through in a script, and its answer to each question in each.
 *
 * <p>A state is a number. Inside a step, each block and each adopted orphan makes a state of its
 * own.
 *
 * <p>Immutable.
 */
final class Timeline {

  /** The answers to one question: {@code answers[i]} from state {@code since[i]} on. */
  private record History(List<Integer> since, List<int[]> answers) {}

  private static final int TIERS = PrefixMatches.LOCAL_TIERS;

  private final Script script;
  private final List<History> histories = new ArrayList<>();
  private final int[] lastStates;
  private final int engines;
  private int state;

  Timeline(Script script, int engines, boolean clearsAtOnce) {
    this.script = script;
    this.engines = engines;
    lastStates = new int[script.steps().size()];
    script
        .questions()
        .forEach(q -> histories.add(new History(new ArrayList<>(), new ArrayList<>())));
    play(clearsAtOnce);
  }

  /** Number of states; the last one is like the first. */
  int states() {
    return state;
  }

  /** The state after a step. */
  int lastState(int step) {
    return lastStates[step];
  }

  /** The last step that had been begun in this state. */
  Step step(int state) {
    int found = Arrays.binarySearch(lastStates, state);
    return script.steps().get(Math.min(lastStates.length - 1, found < 0 ? -found - 1 : found));
  }

  /**
   * The different answers to a question from one state to another, each with the tokens of all
   * engines at all local tiers; −n stands for anything from 0 to n.
   */
  List<int[]> answers(int question, int from, int to) {
    History history = histories.get(question);
    return history.answers.subList(indexAt(history.since, from), indexAt(history.since, to) + 1);
  }

  private static int indexAt(List<Integer> since, int state) {
    int low = 0;
    int high = since.size() - 1;
    while (low < high) {
      int middle = (low + high + 1) / 2;
      if (since.get(middle) <= state) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    return low;
  }

  private void play(boolean clearsAtOnce) {
    Recorder recorder = new Recorder();
    Side<KvIndex> side =
        new Side<>(
            new ReferenceModel(script.maxOrphans(), recorder::record), UnaryOperator.identity());
    recorder.side = side;
    recorder.record();
    for (int i = 0; i < lastStates.length; i++) {
      Step step = script.steps().get(i);
      if (!clearsAtOnce && step instanceof Leave leave) {
        recorder.recordFading(leave.engine());
      } else if (!clearsAtOnce && step instanceof Clear clear) {
        recorder.recordFading(clear.engine());
      }
      side.apply(step);
      recorder.record();
      lastStates[i] = state - 1;
    }
  }

  /** Writes down the answers in one state. */
  private final class Recorder {

    private Side<KvIndex> side;

    void record() {
      recordFading(-1);
    }

    /** A state in which an engine has anything between what it had and nothing. */
    void recordFading(int engine) {
      for (int question = 0; question < histories.size(); question++) {
        History history = histories.get(question);
        int[] answer = answer(script.questions().get(question));
        for (int i = engine * TIERS; engine >= 0 && i < (engine + 1) * TIERS; i++) {
          answer[i] = -answer[i];
        }
        int last = history.answers.size() - 1;
        if (last < 0 || !Arrays.equals(answer, history.answers.get(last))) {
          history.since.add(state);
          history.answers.add(answer);
        }
      }
      state++;
    }

    private int[] answer(BlockChain question) {
      PrefixMatches matches = side.answer(question);
      int[] answer = new int[engines * TIERS];
      for (Map.Entry<Integer, Integer> engine : side.slots().entrySet()) {
        for (int tier = 0; tier < TIERS; tier++) {
          answer[engine.getKey() * TIERS + tier] =
              matches.tokens(engine.getValue(), StorageTier.values()[tier]);
        }
      }
      return answer;
    }
  }
}
