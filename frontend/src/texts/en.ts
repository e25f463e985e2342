/**
 * Everything the worker's page says, in English. Amounts and times come in already written out. A
 * `pay` of null, or `paid` false, is a study that pays nothing: of money is not a word said there.
 */

const plural = (n: number, one: string, many: string) => (n === 1 ? one : many);

export const en = {
  common: {
    loading: "Loading…",
    back: "Back",
    next: "Continue",
    cancel: "Cancel",
    close: "Close",
    tryAgain: "Try again",
    language: "Language",
    sending: "Sending…",
    contact: "Questions about this study?",
    step: (n: number, of: number) => `Step ${n} of ${of}`,
    minutes: (n: number) => `${n} ${plural(n, "minute", "minutes")}`,
    hours: (n: number) => `${n} ${plural(n, "hour", "hours")}`,
    days: (n: number) => `${n} ${plural(n, "day", "days")}`,
    aboutMinutes: (n: number) => `about ${n} ${plural(n, "minute", "minutes")}`,
  },

  roles: {
    questioner: "Questioner",
    answerer: "Answerer",
    questionerDoes: "You ask the questions",
    answererDoes: "You answer the questions",
  },

  preview: {
    youArePaid: "You are paid",
    itTakes: "It takes",
    youWrite: "You write",
    messages: (n: number) => `${n} ${plural(n, "message", "messages")}`,
    whatTitle: "What you will do",
    what: "You talk in writing with another person, live, about one picture. Only one of you can see it.",
    questioner: (n: number) =>
      `You do not see the picture. You read one line about it, and ask ${n} questions to imagine it as well as you can.`,
    questionerBlurred: (n: number) =>
      `You see the picture strongly blurred. You ask ${n} questions to find out what it shows.`,
    answerer: "You see the picture. You answer each question truthfully, in a natural sentence.",
    roleLater: "You learn your role when your partner is found.",
    payTitle: "What is paid, and when",
    unpaidTitle: "If somebody leaves, or nobody comes",
    payFull: (pay: string, n: number) => `The whole dialog, ${n} questions and answers: ${pay}.`,
    payAlone: (pay: string | null) =>
      pay === null
        ? "If your partner leaves, you finish alone."
        : `If your partner leaves, you finish alone and are paid the same ${pay}.`,
    payWait: (limit: string, rate: string, most: string) =>
      `If nobody can be found, you may hand the work in after ${limit} and are paid ${rate} for every minute you waited, up to ${most}.`,
    payNoWait: (limit: string, paid: boolean) =>
      `If nobody can be found, you may stop after ${limit}.${paid ? " Waiting alone is not paid." : ""}`,
    payLeave: "If you leave in the middle, you give up the pay for the dialog.",
    unpaidLeave: "If you leave in the middle, your partner has to finish alone.",
    begin: "Begin",
    acceptFirst: "This is a preview. Accept the work first, then you can begin.",
    paused: "The team has paused this study. Nobody new can begin at the moment.",
  },

  consent: {
    title: "Your consent",
    agree: "I agree",
  },

  instructions: {
    title: "How it works",
    intro: "Two people, one picture. Read both roles: you may get either one.",
    rolesTitle: "The two roles",
    questionerTips: [
      "Ask one thing at a time.",
      "Build on the answers you have: ask what you still cannot imagine.",
      "Ask about what can be seen: people, things, colours, places, what is going on.",
    ],
    answererTips: [
      "Look closely and answer truthfully.",
      "Say a little more than yes or no when there is more to see.",
      "If something cannot be seen, say so.",
    ],
    bothTitle: "For both",
    both: [
      "Write whole, plain sentences, without chat shorthand.",
      "Be kind. Do not give names, addresses or other personal details.",
      "Stay with the picture, and talk about nothing else.",
    ],
    times: (turn: string, grace: string) =>
      `Each message should come within ${turn}. If you are away for more than ${grace}, your place is lost.`,
    leavingTitle: "If somebody leaves",
    partnerLeaves: (pay: string | null) =>
      pay === null
        ? "If your partner leaves, stay: you finish alone, as the page tells you."
        : `If your partner leaves, stay: you finish alone, as the page tells you, and are paid in full, ${pay}.`,
    exampleTitle: "An example",
    exampleCaption: "The one line about the picture",
    exampleBlurred: "The picture, which the questioner sees blurred",
  },

  check: {
    title: "A short check",
    intro: "Just to be sure that the instructions are clear. You can look at them again.",
    question: (n: number, of: number) => `Question ${n} of ${of}`,
    reread: "Read the instructions again",
    submit: "Check my answers",
    unanswered: "Please answer every question.",
    again: "Not right yet. Please look at this one again.",
  },

  arrived: {
    title: "Ready when you are",
    intro: "Three short steps, and you are in the conversation.",
    steps: [
      "Press the button. We look for your partner.",
      "When one is found, you hear a sound. Both of you press Start.",
      "You talk about the picture.",
    ],
    stepSeconds: (seconds: string) => `You have ${seconds} seconds to press Start.`,
    ready: "I am ready",
    declined:
      "You pressed Not now, so no conversation began. That costs you nothing. Press the button when you are ready.",
    missed:
      "A partner was found, but Start was not pressed in time. That happens, and costs you nothing. Press the button when you are back.",
  },

  waiting: {
    title: "Looking for your partner",
    stay: "Keep this page open. You may look at something else: we play a sound when a partner is found.",
    again: "The last partner could not start. You keep your place in line, and we go on looking.",
    strangers: "Your partner will be somebody you have not talked with before.",
    waited: "You have waited",
    estimate: "Likely wait",
    unknown: "not known yet",
    soon: "less than a minute",
    position: "Place in line",
    next: "You are next",
    ifNobody: (limit: string, pays: string) =>
      `If nobody comes within ${limit}, you can hand the work in and are paid ${pays} for waiting.`,
    ifNobodyUnpaid: (limit: string, paid: boolean) =>
      `If nobody comes within ${limit}, you can stop.${paid ? " Waiting alone is not paid." : ""}`,
    choiceTitle: "It is taking long today. You choose:",
    choicePaused: "Wait until it goes on, or stop now:",
    waitOn: "Wait on",
    waitOnNote: "Every minute you wait counts.",
    stopNow: (pays: string) => `Hand in now for ${pays}`,
    stopNowUnpaid: "Stop waiting",
    waitingOn: "Good. You keep your place, and can still stop at any time.",
    nothingTitle: "Nothing left to talk about",
    nothing:
      "Every picture that is new to you has been taken. You have done nothing wrong, and your waiting is paid.",
    nothingUnpaid: "Every picture that is new to you has been taken. You have done nothing wrong.",
    pausedTitle: "The team has paused the study",
    paused: "No new conversations begin at the moment. You keep your place, and your time counts.",
    pausedUnpaid: "No new conversations begin at the moment. You keep your place.",
  },

  matched: {
    title: "Your partner is here",
    intro: "The conversation begins as soon as both of you have pressed Start.",
    start: "Start",
    waiting: "Waiting for your partner…",
    notNow: "Not now",
    notNowNote: "You go back without any disadvantage.",
    started: "You are ready. Waiting for your partner to press Start…",
    seconds: (n: number) => `${n} ${plural(n, "second", "seconds")} left`,
    flash: "● Partner found",
  },

  chat: {
    youAre: "Your role",
    caption: "About the picture",
    imageAlt: "The picture that your partner asks about",
    blurredAlt: "The picture, strongly blurred",
    pictureFailed: "The picture did not load.",
    zoom: "Enlarge the picture",
    zoomIn: "Larger",
    zoomOut: "Smaller",
    round: (n: number, of: number) => `Round ${n} of ${of}`,
    soloCount: (n: number, of: number) => `${n} of ${of} sent`,
    log: "The conversation",
    empty: {
      questioner: "Your questions and the answers will appear here.",
      answerer: "Your partner's questions and your answers will appear here.",
    },
    you: "You",
    partner: "Partner",
    question: (n: number) => `Question ${n}`,
    answer: (n: number) => `Answer ${n}`,
    fact: (n: number) => `Fact ${n}`,
    box: "Your message",
    placeholder: {
      questioner: "Ask about the picture…",
      answerer: "Answer the question…",
      solo: "Something that can be seen…",
      wait: "You can prepare your next message…",
    },
    send: "Send",
    count: (n: number, max: number) => `${n} of ${max} characters`,
    tooLong: (n: number) => `${n} too many. Please shorten the message.`,
    sending: "Sending…",
    sent: "Sent",
    unsent: "Not sent yet",
    unsentOffline: "Goes out as soon as you are connected",
    retry: "Send again",
    typing: "Your partner is writing…",
    pays: (pay: string) => `${pay} when you finish`,
    paysNote: "even if your partner leaves",
    toEnd: "To the newest message",
    newTurn: "● Your turn",
    team: "Message from the research team",
    newTold: "● Message from the team",
    moreTime: "The research team gave you more time.",
  },

  now: {
    askFirst: "Your turn: ask your first question about the picture.",
    ask: (n: number) => `Your turn: ask question ${n}.`,
    answer: (n: number) => `Your turn: answer question ${n}.`,
    waitAnswer: "Wait for your partner's answer.",
    waitQuestion: "Wait for your partner's question.",
    soloAsk: (left: number, of: number, first: boolean) =>
      `Write ${first ? "a" : "another"} question you would ask: ${left} of ${of} left.`,
    soloAnswer: (n: number, left: number, of: number) =>
      `You may still answer question ${n}, or write what else you see: ${left} of ${of} left.`,
    soloTell: (left: number, of: number, first: boolean) =>
      `Write ${first ? "a" : "another"} thing you see in the picture: ${left} of ${of} left.`,
    sending: "Your message is on its way…",
    unsent: "Your message has not gone out yet.",
    allSent: (paid: boolean) =>
      `You have sent everything${paid ? " and will be paid in full" : ""}. Please do not close the page yet:`,
    /** Follows `allSent`. */
    lastStep: {
      link: "your completion code comes right after your partner's last answer.",
      mturk:
        "the button that hands your work in comes right after your partner's last answer, and you must press it to be paid.",
      prolific:
        "the button that takes you back to Prolific comes right after your partner's last answer.",
    },
    ending: "The conversation is over. One moment…",
  },

  turn: {
    left: (time: string) => `${time} left to send your message. Writing gives you more time.`,
    soon: "Less than a minute left to send your message.",
    over: "Time is up. Please send your message now, or your place may be lost.",
    partner: (time: string, paid: boolean) =>
      `Your partner has ${time} left. If nothing comes, you finish alone${paid ? " and are paid in full" : ""}.`,
    lastAnswer: (time: string) =>
      `Your partner has ${time} left for the last answer, or longer while writing. If none comes, you go on to the last step without it.`,
    lastAnswerLate:
      "Your partner gets a little more time for the last answer. If none comes, you go on to the last step without it.",
  },

  away: {
    note: "Your partner has lost the connection.",
    until: (time: string, paid: boolean) =>
      `We wait ${time} for them. If they do not come back, you finish alone${paid ? " and are paid in full" : ""}.`,
    untilDone: (time: string) =>
      `We wait ${time} for them. If they do not come back, you go on to the last step without the last answer.`,
    over: "One moment: we are looking whether they come back.",
  },

  solo: {
    title: "Your partner has left",
    pay: (pay: string | null) =>
      pay === null
        ? "You did nothing wrong."
        : `You did nothing wrong, and you will be paid in full: ${pay}.`,
    ask: "Finish alone: ask what you would still like to know. Nobody answers, and that is all right.",
    tell: "Finish alone: say what can be seen in the picture, one thing in each message.",
    againTitle: "You had only just begun.",
    again: "Look for a new partner",
    againNote: "If you like, start over with somebody else instead.",
    againPay: (pay: string) =>
      `The new dialog pays ${pay}; what you have written in this one is then not paid.`,
    againWait: (rate: string, most: string) =>
      `If nobody comes, you are paid ${rate} for every minute since you began to wait, up to ${most}.`,
    againNoWait: "If nobody comes, nothing is paid: waiting alone is not.",
    againUnpaid: "What you have written in this one then stays unfinished.",
  },

  offline: {
    title: "Reconnecting…",
    note: "Nothing is lost. You can go on writing.",
    noteElsewhere: "Nothing is lost. Keep this page open.",
    connecting: "Connecting…",
  },

  leave: {
    button: "Leave",
    title: "Leave now?",
    allSentTitle: "One last step",
    lobby: (pay: string | null) =>
      pay === null
        ? "Nothing has begun yet. If you leave, nobody will hold it against you."
        : `Nothing has begun yet. If you leave, you give up the chance to earn ${pay}. Nobody will hold it against you.`,
    lobbyWaiting:
      "If you would rather be paid for waiting, stay until you are offered to hand in.",
    seat: (pay: string | null) =>
      pay === null
        ? "Your partner would have to finish alone."
        : `You would give up the ${pay} for this dialog, and your partner would have to finish alone.`,
    solo: (pay: string | null, left: number) => {
      const few = `Only ${left} ${plural(left, "message", "messages")} to go`;
      return pay === null
        ? `${few}. If you leave now, the dialog stays unfinished.`
        : `${few}, and you are paid ${pay}. If you leave now, you give that up.`;
    },
    paid: (amount: string) => `For the time until then you are paid ${amount}.`,
    reason: "Would you tell us why? (optional)",
    stay: "Stay",
    confirm: "Leave",
  },

  report: {
    button: "Report a problem",
    short: "Report",
    title: "Report a problem",
    intro: (paid: boolean) =>
      `Tell the team what is wrong: a technical fault, rude words, a bad picture.${paid ? " Your pay is not touched." : ""}`,
    text: "What happened?",
    send: "Send to the team",
    thanks: "Thank you. The team has your report. You can go on.",
    contact: "You can also write to",
    noContact: "You can report a problem here once you have begun.",
  },

  end: {
    transcript: "Your conversation",
    completed: {
      title: "Thank you! The dialog is complete.",
      text: "You and your partner have finished all rounds.",
    },
    finished_alone: {
      title: "Thank you! You are done.",
      text: "Your partner left, and you finished alone. You are paid in full.",
      unpaid: "Your partner left, and you finished alone.",
    },
    left: {
      title: "You have left",
      text: "Your part ended before the dialog was finished: you were away for too long, or no message came in time.",
      by: {
        leave: "You left before the dialog was finished.",
        grace: "Your part ended before the dialog was finished: you were away for too long.",
        turn: "Your part ended before the dialog was finished: no message came in time.",
      },
    },
    never_paired: {
      title: "Thank you for waiting",
      text: "We could not find you a partner. That is not your fault, and your waiting is paid.",
      unpaid: "We could not find you a partner. That is not your fault.",
    },
    returned: {
      title: "You have left",
      text: "No dialog had begun. Nothing counts against you.",
    },
    screened_out: {
      title: "There is nothing more to do",
      text: "There is no further task for you in this study. Nothing counts against you. Thank you for coming.",
    },
    study_full: {
      title: "Nothing left to talk about",
      text: "Every picture that is new to you has been taken. Thank you for coming.",
    },
    ended_by_team: {
      title: "The time for this dialog was over",
      text: "It ended before all rounds were finished. You did nothing wrong.",
      by: {
        title: "The research team ended this dialog",
        text: "It was ended before all rounds were finished.",
      },
    },
    amount: "You are paid",
    pay: "Your pay",
    unpaid: "Nothing is paid for this.",
    code: "Your completion code",
    codeUnpaid: "The code of this visit",
    copy: "Copy",
    copied: "Copied",
    copyFailed: "Please select the code and copy it yourself.",
    codeUse: "Enter this code where you found the work, if you are asked for one.",
    paidByTeam:
      "The team that runs this study pays you itself. It has your code and what you earned. Keep the code in case you are asked for it.",
    paidContact: "Whom to ask about your pay:",
    feedback: "How was it? (optional)",
    feedbackAlong: "How was it? (optional, sent with the button below)",
    feedbackHint: "Anything you liked, or that we should do better.",
    sendFeedback: "Send feedback",
    lastStep: {
      handIn: "Last step: hand in your work",
      giveBack: "Last step: return the work",
      toProlific: "Last step: go back to Prolific",
    },
    handIn: (pay: string) => `You are paid ${pay} once it is handed in.`,
    handInByHand: (pay: string) =>
      `You are paid ${pay} when it is handed in and the team has looked at it.`,
    handInParts: (reward: string, bonus: string) =>
      `${reward} of the pay is the reward that the marketplace shows, and ${bonus} comes as a bonus.`,
    handInLatest: (time: string) => `That takes ${time} at the most.`,
    handInLatestReward: (time: string) =>
      `If the team takes longer than ${time}, the reward comes before the bonus.`,
    handInNoReturn: "Do not return it: work that is returned is not paid.",
    giveBack:
      "Nothing is paid for this, so there is nothing to hand in. Please press Return on the marketplace's page, outside this frame. Until you do, the work stays yours there and its time runs on.",
    prolific: {
      paid: (pay: string) =>
        `You are paid ${pay}. Prolific learns that you are done when you press this button. Do not return your submission there.`,
      bonus: (pay: string) =>
        `You are paid ${pay}. Press this button to go back. If Prolific then asks you to return your submission, please do: you are paid all the same.`,
      unpaid:
        "Nothing is paid for this. Press this button to go back. Prolific then asks you to return your submission: please do.",
      byHand: "The team looks at your work first.",
      button: "Back to Prolific",
    },
    submit: "Submit the work",
    submitNote: "If nothing happens, simply press it again.",
    finish: "Send and finish",
    finished: "All done. You can close this page now.",
    feedbackSent: "Thank you, we have your feedback.",
    another: "Another dialog",
    anotherNote: (pay: string | null) =>
      `There are more pictures.${pay === null ? "" : ` A complete dialog pays ${pay}.`}`,
  },

  stopped: {
    replacedTitle: "You have opened this page elsewhere",
    replaced: "To keep things in order, the conversation runs only in the newest window.",
    continueHere: "Continue here",
    title: "This page cannot go on",
    reload: "Load the page again",
    failedTitle: "We cannot reach the server",
    failed: "This is not your fault. We keep trying; nothing is lost.",
    crashTitle: "Something went wrong on this page",
    crash: "Nothing that you sent is lost. Load the page again to go on.",
  },

  problems: {
    noAnswer: "That did not go through. Please check the connection and try again.",
  },

  /** For languages other than the server's; in English the server's own sentence is shown. */
  refusals: {
    bad_token: "This link is no longer valid. Load the page again.",
    bad_request: "That could not be understood. Please check what you entered.",
    replaced: "This page is open in another window.",
    not_now: "That is not possible right now.",
    study_paused: "The team has paused the study.",
    try_again: "That did not work. Please try again.",
    no_invitation:
      "This study needs an invitation link, and yours has no invitation code in it. Please open the link you were sent, exactly as it is.",
    unknown_invitation:
      "This study needs an invitation link, and the code in yours is not one of its invitations. Please open the link you were sent, exactly as it is. If you did, ask whoever sent it for a new one.",
    cap_reached: "You have done as many dialogs as one person may. Thank you!",
    not_needed: "There is no further task for you in this study. Thank you for coming!",
    wrong_answers:
      "Not quite: please look at the marked questions again. The instructions have the answers.",
    not_your_turn: "Please wait: it is your partner's turn.",
    bad_text: "This message cannot be sent. Please write one line of plain text.",
    seat_lost: "Your part in this dialog is over.",
    dialog_ended: "This dialog has ended.",
    all_sent: "You have sent all your messages. Please stay: the last step comes right after your partner's last answer.",
    not_alone: "A new partner is possible only early, after yours has left.",
    not_possible: "That is not possible.",
  },
};

export type Texts = typeof en;
