package dev.warmpath.tokenizer.deepseek;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Makes one message of the user of each run of user messages and results of tools. Results stand in
 * the order of their calls, on the places that results have.
 *
 * <p>Confined to its thread.
 */
final class UserTurns {

  /** A text of the user, or a result with the place of its call. */
  private record Block(String text, boolean isResult, int place) {}

  private final List<DeepSeekMessage> merged = new ArrayList<>();
  private final List<Block> turn = new ArrayList<>();
  private final Map<String, Integer> places = new HashMap<>();
  private @Nullable String task;

  private UserTurns() {}

  static List<DeepSeekMessage> merge(List<DeepSeekMessage> messages) {
    UserTurns turns = new UserTurns();
    messages.forEach(turns::add);
    turns.endTurn();
    return turns.merged;
  }

  private void add(DeepSeekMessage message) {
    if (message.is("tool")) {
      String text = "<tool_result>" + message.contentWithNotes() + "</tool_result>";
      turn.add(new Block(text, true, places.getOrDefault(message.toolCallId(), 0)));
    } else if (message.is("user")) {
      addText(message);
    } else {
      endTurn();
      learnPlaces(message);
      merged.add(message);
    }
  }

  /** A task ends its turn, and only the first message of a turn can have one. */
  private void addText(DeepSeekMessage message) {
    if (task != null) {
      endTurn();
    }
    if (turn.isEmpty()) {
      task = message.task();
    }
    turn.add(new Block(message.content(), false, 0));
  }

  private void endTurn() {
    if (turn.isEmpty()) {
      return;
    }
    Iterator<Block> results =
        turn.stream()
            .filter(Block::isResult)
            .sorted(Comparator.comparingInt(Block::place))
            .iterator();
    List<String> texts = new ArrayList<>();
    for (Block block : turn) {
      texts.add(block.isResult() ? results.next().text() : block.text());
    }
    merged.add(DeepSeekMessage.user(String.join("\n\n", texts), task));
    turn.clear();
    task = null;
  }

  private void learnPlaces(DeepSeekMessage message) {
    if (!message.is("assistant") || message.callCount() == 0) {
      return;
    }
    places.clear();
    List<DeepSeekToolCall> calls = message.calls();
    for (int i = 0; i < calls.size(); i++) {
      if (!calls.get(i).id().isEmpty()) {
        places.put(calls.get(i).id(), i);
      }
    }
  }
}
