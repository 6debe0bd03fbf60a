package dev.warmpath.lab.chaos;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.lab.chaos.ChaosClient.ClientBehaviour;
import dev.warmpath.simulator.demo.ChatWords;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * The questions of a run. An engine that nobody disturbs has told their answers: what an engine
 * answers depends on the prompt alone.
 *
 * <p>Immutable.
 */
final class Questions {

  private static final int SHORT = 160;
  private static final int LONG = 8;
  private static final int TENANTS = 8;
  private static final int SYSTEM_CHARS = 400;
  private static final int USER_CHARS = 160;

  private final List<Question> shortOnes = new ArrayList<>();
  private final List<Question> longOnes = new ArrayList<>();

  /** How long answers are, in tokens. */
  record Lengths(int shortTokens, int longTokens) {}

  /**
   * Asks the engine for all answers.
   *
   * @param seed the same seed gives the same questions
   * @throws IOException if the engine does not answer
   */
  Questions(String model, String engineUrl, Lengths lengths, long seed)
      throws IOException, InterruptedException {
    HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    for (int i = 0; i < SHORT; i++) {
      ObjectNode body = body(model, seed, i, lengths.shortTokens());
      shortOnes.add(question(http, engineUrl, body, i % 3 != 0));
    }
    for (int i = 0; i < LONG; i++) {
      ObjectNode body = body(model, seed, SHORT + i, lengths.longTokens());
      body.put("min_tokens", lengths.longTokens());
      longOnes.add(question(http, engineUrl, body, true));
    }
  }

  /** One that suits the behaviour. */
  Question draw(ClientBehaviour behaviour, Random random) {
    List<Question> from = behaviour.wantsLongAnswer() ? longOnes : shortOnes;
    Question question = from.get(random.nextInt(from.size()));
    while (behaviour == ClientBehaviour.LEAVES_MID_STREAM && !question.streamed()) {
      question = from.get(random.nextInt(from.size()));
    }
    return question;
  }

  private static ObjectNode body(String model, long seed, int number, int tokens) {
    int tenant = number % TENANTS;
    ChatWords system = ChatWords.ofTenant(seed, tenant);
    ChatWords user = ChatWords.ofUser(seed, number);
    ObjectNode body = JsonNodeFactory.instance.objectNode();
    body.put("model", model).put("max_tokens", tokens);
    body.withArray("messages")
        .addObject()
        .put("role", "system")
        .put("content", system.chars(SYSTEM_CHARS));
    body.withArray("messages")
        .addObject()
        .put("role", "user")
        .put("content", "Question " + number + ": " + user.chars(USER_CHARS));
    return body;
  }

  private static Question question(
      HttpClient http, String engineUrl, ObjectNode body, boolean streamed)
      throws IOException, InterruptedException {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(engineUrl + ChaosClient.PATH))
            .POST(BodyPublishers.ofString(body.toString()))
            .build();
    HttpResponse<String> response = http.send(request, BodyHandlers.ofString());
    JsonNode answer = Classifier.json(response.body()).at("/choices/0/message/content");
    if (response.statusCode() != 200 || answer.asText("").isEmpty()) {
      throw new IOException("the reference engine says " + response.body());
    }
    if (streamed) {
      body.put("stream", true).putObject("stream_options").put("include_usage", true);
    }
    return new Question(body.toString(), streamed, answer.asText());
  }

  /**
   * A chat request and the only right answer to it.
   *
   * @param body the JSON of the request
   * @param streamed whether it asks for an event stream
   * @param answer the text that every engine gives
   */
  record Question(String body, boolean streamed, String answer) {}
}
