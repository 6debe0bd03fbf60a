package dev.warmpath.simulator.demo;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ChatLoadTest {

  private static final ObjectMapper JSON = new ObjectMapper();

  private final ChatLoad load = new ChatLoad("m", 100, 7, 4, 3, 30, 10, 16, 5);

  @Test
  void chatsOfATenantShareTheirSystemPromptAndNothingElse() throws Exception {
    JsonNode first = JSON.readTree(load.chat(1).nextTurn()).path("messages");
    JsonNode sibling = JSON.readTree(load.chat(4).nextTurn()).path("messages");
    JsonNode stranger = JSON.readTree(load.chat(2).nextTurn()).path("messages");

    assertThat(sibling.path(0)).isEqualTo(first.path(0));
    assertThat(sibling.path(1)).isNotEqualTo(first.path(1));
    assertThat(stranger.path(0)).isNotEqualTo(first.path(0));
  }

  @Test
  void aTurnHoldsAllTurnsBeforeIt() throws Exception {
    Chat chat = load.chat(10);
    JsonNode first = JSON.readTree(chat.nextTurn()).path("messages");
    chat.answered("Yes.");
    JsonNode second = JSON.readTree(chat.nextTurn()).path("messages");

    assertThat(first).hasSize(2);
    assertThat(second).hasSize(4);
    assertThat(second.path(2).path("content").asText()).isEqualTo("Yes.");
    assertThat(second.path(1)).isEqualTo(first.path(1));
  }

  @Test
  void theFirstChatsEndAtDifferentTimes() {
    List<Integer> lengths = new ArrayList<>();
    for (int number = 0; number < 9; number++) {
      lengths.add(turns(load.chat(number)));
    }

    assertThat(lengths).containsExactly(1, 2, 3, 4, 1, 2, 3, 4, 4);
  }

  @Test
  void theSameSeedGivesTheSameWords() {
    assertThat(load.chat(3).nextTurn()).isEqualTo(load.chat(3).nextTurn());
  }

  private static int turns(Chat chat) {
    int turns = 0;
    while (!chat.over()) {
      chat.nextTurn();
      chat.answered("a");
      turns++;
    }
    return turns;
  }
}
