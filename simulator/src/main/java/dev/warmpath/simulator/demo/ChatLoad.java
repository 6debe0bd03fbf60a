package dev.warmpath.simulator.demo;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * A load of chats: so many are active at a time, each belongs to a tenant whose system prompt its
 * chats share, and grows turn by turn with the model's real answers. A chat that is over is
 * replaced by a new one.
 *
 * @param requests turns in all
 * @param activeChats chats that take turns, in order
 * @param turns turns of a whole chat; the first chats are cut short, so that they do not end
 *     together
 * @param tenants different system prompts
 * @param systemWords words of a system prompt
 * @param userWords words of a user's turn
 * @param answerTokens limit of an answer, in tokens
 * @param seed the same seed gives the same words and images
 * @param mostImages each chat shows between one image and so many; 0 for none
 */
public record ChatLoad(
    String model,
    int requests,
    int activeChats,
    int turns,
    int tenants,
    int systemWords,
    int userWords,
    int answerTokens,
    long seed,
    int mostImages) {

  public ChatLoad {
    if (requests < 1
        || activeChats < 1
        || turns < 1
        || tenants < 1
        || systemWords < 1
        || userWords < 1
        || answerTokens < 1) {
      throw new IllegalArgumentException("every size must be at least 1");
    }
    if (mostImages < 0) {
      throw new IllegalArgumentException("mostImages=" + mostImages);
    }
  }

  /** Chats of text alone. */
  public ChatLoad(
      String model,
      int requests,
      int activeChats,
      int turns,
      int tenants,
      int systemWords,
      int userWords,
      int answerTokens,
      long seed) {
    this(
        model,
        requests,
        activeChats,
        turns,
        tenants,
        systemWords,
        userWords,
        answerTokens,
        seed,
        0);
  }

  /** The chat with this number, at its beginning. */
  Chat chat(int number) {
    int length = number < activeChats ? 1 + number % turns : turns;
    int tenant = number % tenants;
    ChatWords system = ChatWords.ofTenant(seed, tenant);
    return new Chat(
        new Chat.Identity(
            model, "chat-" + number, "Tenant " + tenant + ". " + system.text(systemWords)),
        ChatWords.ofUser(seed, number),
        mostImages == 0
            ? Collections.nCopies(length, new Chat.Turn(userWords, answerTokens))
            : turnsWithImages(number, length));
  }

  /** The first turn shows an image; others show one now and then. */
  private List<Chat.Turn> turnsWithImages(int number, int length) {
    ChatImages images = ChatImages.ofUser(seed, number);
    int left = images.count(mostImages);
    List<Chat.Turn> all = new ArrayList<>();
    for (int i = 0; i < length; i++) {
      int shown = left == 0 ? 0 : i == 0 ? images.count(left) : images.count(left + 1) - 1;
      all.add(new Chat.Turn(userWords, answerTokens, images.next(seed, shown)));
      left -= shown;
    }
    return all;
  }
}
