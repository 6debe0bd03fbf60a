package dev.warmpath.router.tokenize.parity;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.router.fleet.Replica;
import dev.warmpath.router.tokenize.engine.EngineHttp;
import dev.warmpath.router.tokenize.engine.EngineHttp.Answer;
import dev.warmpath.router.tokenize.engine.TokenizeCall;
import dev.warmpath.tokenizer.ModelTokenizer;
import dev.warmpath.tokenizer.PromptResult.Tokens;
import dev.warmpath.tokenizer.RequestKind;
import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/**
 * Asks one engine for the tokens of a prompt and compares them with ours. Blocks.
 *
 * <p>Thread-safe.
 */
final class ParityCheck {

  private static final Set<Integer> NOT_OFFERED = Set.of(401, 403, 404, 405, 501);

  /** A prompt and who cuts it here. Immutable, if nobody changes the node. */
  record Question(ModelTokenizer tokenizer, RequestKind kind, ObjectNode request) {

    /** Our tokens; null where the prompt is not known here or is several. */
    int @Nullable [] ours() {
      return tokenizer.prompt(kind, request, null) instanceof Tokens tokens
              && tokens.sequences().size() == 1
          ? tokens.sequences().get(0)
          : null;
    }
  }

  /**
   * What came of it. Immutable.
   *
   * @param difference with {@link ParityResult#DIFFERENT}, else null
   */
  record Verdict(ParityResult result, @Nullable TokenDifference difference) {

    static Verdict of(ParityResult result) {
      return new Verdict(result, null);
    }
  }

  private final EngineHttp http;
  private final Duration timeout;

  ParityCheck(EngineHttp http, Duration timeout) {
    this.http = http;
    this.timeout = timeout;
  }

  /** Compares; {@code where} goes into the difference. */
  Verdict ask(Question question, Replica replica, String where) {
    int[] ours = question.ours();
    if (ours == null || !TokenizeCall.fits(question.kind(), question.request())) {
      return Verdict.of(ParityResult.UNKNOWN);
    }
    try {
      return judge(question, ours, replica, where);
    } catch (CompletionException | CancellationException | IOException e) {
      return Verdict.of(ParityResult.ERROR);
    }
  }

  private Verdict judge(Question question, int[] ours, Replica replica, String where)
      throws IOException {
    Answer answer =
        http.post(
                replica.baseUrl(),
                TokenizeCall.PATH,
                TokenizeCall.body(question.request()),
                timeout)
            .join();
    if (answer.status() != 200) {
      return Verdict.of(ofStatus(answer.status()));
    }
    int[] theirs = TokenizeCall.tokenIds(answer.body());
    if (theirs == null) {
      return Verdict.of(ParityResult.ERROR);
    }
    if (Arrays.equals(ours, theirs)) {
      return Verdict.of(ParityResult.EQUAL);
    }
    return new Verdict(
        ParityResult.DIFFERENT,
        TokenDifference.of(replica.name(), where, ours, theirs, question.tokenizer()));
  }

  private static ParityResult ofStatus(int status) {
    if (NOT_OFFERED.contains(status)) {
      return ParityResult.UNAVAILABLE;
    }
    return status == 400 || status == 422 ? ParityResult.UNKNOWN : ParityResult.ERROR;
  }
}
